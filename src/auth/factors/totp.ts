/** Codes of an authenticator app: TOTP as all of them speak it (RFC 6238: SHA-1, six digits, 30 seconds). */
import { Secret, TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
const DIGITS = 6;
/** Steps before and after the current one that are taken: clocks of phones differ (RFC 6238, 5.2). */
const WINDOW = 1;
/** As long as the hash (RFC 4226, 4). */
const SECRET_BYTES = 20;

export interface TotpKey {
  /** Base32, for typing in. */
  readonly secret: string;
  /** otpauth://, for a QR code. */
  readonly uri: string;
}

/** @param issuer and account are what the app shows */
export function newTotpKey(issuer: string, account: string): TotpKey {
  const totp = totpOf(new Secret({ size: SECRET_BYTES }), issuer, account);
  return { secret: totp.secret.base32, uri: totp.toString() };
}

/**
 * The time step of which this is the code, or null when it is none of the window's.
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
  // A colon would end the issuer in the label of the address.
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
