// Runs in piscina's threads: hashing a password takes tens of milliseconds of CPU, which the event loop must not lose.
// Plain JavaScript, so that the same file is loaded from src/ by the tests and from dist/ by the product.
'use strict';
const bcrypt = require('bcryptjs');
const { createCipheriv, pbkdf2Sync, scryptSync, timingSafeEqual } = require('node:crypto');

exports.hash = ({ password, cost }) => bcrypt.hashSync(password, bcrypt.genSaltSync(cost));

/** @param foreign the parameters of a hash that another system made, absent for bcrypt */
exports.compare = ({ password, hash, foreign }) => {
  if (!foreign) return bcrypt.compareSync(password, hash);
  if (foreign.kind === 'argon2') return require('hash-wasm').argon2Verify({ password, hash });
  const made = foreign.kind === 'pbkdf2' ? pbkdf2(password, foreign) : firebaseScrypt(password, foreign);
  return made.length === foreign.hash.length && timingSafeEqual(made, foreign.hash);
};

const pbkdf2 = (password, { salt, iterations, digest, hash }) =>
  pbkdf2Sync(password, salt, iterations, hash.length, digest);

/** Firebase encrypts its signer key with the key that scrypt derives (github.com/firebase/scrypt). */
function firebaseScrypt(password, { salt, separator, signerKey, logN, r, p }) {
  const N = 2 ** logN;
  const key = scryptSync(password, Buffer.concat([salt, separator]), 32, { N, r, p, maxmem: 256 * N * r });
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(signerKey);
}
