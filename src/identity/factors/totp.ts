/** Codes of authenticator apps: TOTP with the parameters that all apps support (RFC 6238: SHA-1, six digits, 30 seconds). */
import { Secret, TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
const DIGITS = 6;
/** Steps before and after the current one that are accepted, because clocks differ (RFC 6238, 5.2). */
const WINDOW = 1;
/** The length of the hash (RFC 4226, 4). */
const SECRET_BYTES = 20;

interface TotpKey {
  /** Base32, to type in. */
  readonly secret: string;
  /** otpauth://, for a QR code. */
  readonly uri: string;
}

/** @param issuer shown in the app, as is `account` */
export function newTotpKey(issuer: string, account: string): TotpKey {
  const totp = totpOf(new Secret({ size: SECRET_BYTES }), issuer, account);
  return { secret: totp.secret.base32, uri: totp.toString() };
}

/**
 * The time step of a code, or null if the code is not valid within the window.
 * @param now milliseconds since the epoch
 */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  const digits = code.replaceAll(' ', '');
  if (!/^\d{6}$/.test(digits)) return null;
  const totp = totpOf(Secret.fromBase32(secret));
  const delta = totp.validate({ token: digits, timestamp: now, window: WINDOW });
  return delta === null ? null : totp.counter({ timestamp: now }) + delta;
}

function totpOf(secret: Secret, issuer = '', label = ''): TOTP {
  // In the label of the URI a colon separates issuer and account.
  const plain = issuer.replaceAll(':', ' ');
  return new TOTP({
    issuer: plain,
    label,
    secret,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD_SECONDS,
  });
}
