/** Encryption of an archive's secrets under a passphrase: scrypt (RFC 7914), AES-256-GCM, HMAC-SHA-256. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { TUNING } from '../../config/tuning';
import { archiveInvalid, wrongPassphrase } from '../backup.errors';
import type { KeyDerivation } from './archive-format';

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/** An archive states its own parameters; more than these would be an attack on memory and time. */
const MAX_MEMORY = 128 * 1024 * 1024;
const MAX_P = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class PassphraseKey {
  private constructor(
    readonly derivation: KeyDerivation,
    private readonly encryption: Buffer,
    private readonly authentication: Buffer,
  ) {}

  /** Derives a key with a new salt. */
  static create(passphrase: string): Promise<PassphraseKey> {
    return PassphraseKey.derive(passphrase, {
      kdf: 'scrypt',
      ...{ n: TUNING.passphraseCost, r: 8, p: 3 },
      salt: randomBytes(16).toString('base64'),
    });
  }

  /** @throws AppError 400 for parameters that no archive of Plinth has */
  static async derive(passphrase: string, derivation: KeyDerivation): Promise<PassphraseKey> {
    const { kdf, n, r, p, salt } = derivation;
    const isSound = kdf === 'scrypt' && [n, r, p].every((value) => Number.isInteger(value) && value > 0);
    if (!isSound || typeof salt !== 'string' || 128 * n * r > MAX_MEMORY || p > MAX_P || (n & (n - 1)) !== 0)
      throw archiveInvalid('its key derivation is not supported');
    const options = { N: n, r, p, maxmem: 2 * MAX_MEMORY };
    const key = await derive(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), 64, options).catch(
      (error: unknown) => {
        throw archiveInvalid('its key derivation is not supported', error);
      },
    );
    return new PassphraseKey(derivation, key.subarray(0, 32), key.subarray(32));
  }

  /** @param context authenticated with the text */
  seal(text: string | Buffer, context: Buffer): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.encryption, iv).setAAD(context);
    const sealed = Buffer.concat([cipher.update(Buffer.from(text)), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
  }

  /** @throws AppError 400 for another passphrase or context, or an altered text */
  open(sealed: Buffer, context: Buffer): Buffer {
    try {
      const [iv, tag] = [sealed.subarray(0, IV_BYTES), sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
      const decipher = createDecipheriv('aes-256-gcm', this.encryption, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(context).setAuthTag(tag);
      const text = decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]);
    } catch (cause) {
      throw wrongPassphrase(cause);
    }
  }

  /** In hexadecimal. */
  authenticate(bytes: Buffer): string {
    return createHmac('sha256', this.authentication).update(bytes).digest('hex');
  }

  /** True when authenticate() made the text. */
  verifies(bytes: Buffer, mac: string): boolean {
    const [expected, given] = [Buffer.from(this.authenticate(bytes)), Buffer.from(mac)];
    return expected.length === given.length && timingSafeEqual(expected, given);
  }
}
