/**
 * Password hashes that other systems made: Argon2 in its PHC form, PBKDF2 as `$pbkdf2-sha256$i=27500$<salt>$<hash>` (Keycloak), and
 * scrypt of Firebase as GoTrue writes it: `$fbscrypt$v=1,n=14,r=8,p=1,ss=<separator>,sk=<signer key>$<salt>$<hash>`. The work that
 * they may ask for is bounded, since the threads serve all projects.
 */
const B64 = '[A-Za-z0-9+/_-]{1,200}={0,2}';
const ARGON2 =
  /^\$argon2(?:id|i|d)\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;
const PBKDF2 = new RegExp(`^\\$pbkdf2-(sha1|sha256|sha512)\\$i=(\\d{1,7})\\$(${B64})\\$(${B64})$`);
const FIREBASE = new RegExp(
  `^\\$fbscrypt\\$v=1,n=(\\d{1,2}),r=(\\d{1,2}),p=(\\d{1,2}),ss=(${B64}),sk=(${B64})\\$(${B64})\\$(${B64})$`,
);
/** KiB; hashes of larger memory are refused. */
const MAX_ARGON2_MEMORY = 131_072;
const MAX_ARGON2_WORK = 4 * MAX_ARGON2_MEMORY;
const MAX_ITERATIONS = 1_000_000;
const MAX_SCRYPT_LOG_N = 16;
const MAX_SCRYPT_BLOCKS = 16;

type ForeignHash =
  | { readonly kind: 'argon2' }
  | {
      readonly kind: 'pbkdf2';
      readonly digest: string;
      readonly iterations: number;
      readonly salt: Buffer;
      readonly hash: Buffer;
    }
  | {
      readonly kind: 'firebase';
      readonly logN: number;
      readonly r: number;
      readonly p: number;
      readonly separator: Buffer;
      readonly signerKey: Buffer;
      readonly salt: Buffer;
      readonly hash: Buffer;
    };

/** Parses a hash. Null for any other text, and for a hash that requires too much work. */
export function parseForeignHash(text: string): ForeignHash | null {
  return parseArgon2(text) ?? parsePbkdf2(text) ?? parseFirebase(text);
}

function parseArgon2(text: string): ForeignHash | null {
  const [memory, passes, lanes] = numbersOf(ARGON2.exec(text)?.slice(1, 4));
  if (!memory || !passes || !lanes || memory < 8 * lanes) return null;
  return memory <= MAX_ARGON2_MEMORY && memory * passes <= MAX_ARGON2_WORK ? { kind: 'argon2' } : null;
}

function parsePbkdf2(text: string): ForeignHash | null {
  const [, digest, count, salt, hash] = PBKDF2.exec(text) ?? [];
  if (digest === undefined || salt === undefined || hash === undefined) return null;
  const iterations = Number(count);
  if (iterations < 1 || iterations > MAX_ITERATIONS) return null;
  return { kind: 'pbkdf2', digest, iterations, salt: bytesOf(salt), hash: bytesOf(hash) };
}

function parseFirebase(text: string): ForeignHash | null {
  const match = FIREBASE.exec(text);
  const [logN = 0, r = 0, p = 0] = numbersOf(match?.slice(1, 4));
  const [separator, signerKey, salt, hash] = match?.slice(4) ?? [];
  if (separator === undefined || signerKey === undefined || salt === undefined || hash === undefined)
    return null;
  if (logN < 1 || logN > MAX_SCRYPT_LOG_N || r < 1 || p < 1 || r * p > MAX_SCRYPT_BLOCKS) return null;
  return {
    kind: 'firebase',
    logN,
    r,
    p,
    separator: bytesOf(separator),
    signerKey: bytesOf(signerKey),
    salt: bytesOf(salt),
    hash: bytesOf(hash),
  };
}

const numbersOf = (texts: readonly string[] = []): number[] => texts.map(Number);

/** Node reads both alphabets of base64. */
const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64');
