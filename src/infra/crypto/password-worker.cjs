// Runs in piscina's threads: hashing a password takes tens of milliseconds of CPU, which the event loop must not lose.
// Plain JavaScript, so that the same file is loaded from src/ by the tests and from dist/ by the product.
'use strict';
const bcrypt = require('bcryptjs');

exports.hash = ({ password, cost }) => bcrypt.hashSync(password, bcrypt.genSaltSync(cost));

exports.compare = ({ password, hash }) => bcrypt.compareSync(password, hash);
