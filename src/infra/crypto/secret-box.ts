/** Encryption of secrets at rest: AES-256-GCM under MASTER_KEY (NIST SP 800-38D). */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class SecretBox {
  private readonly key: Buffer;
  private readonly other: SecretBox | null;

  /**
   * @param masterKey any text of at least 32 characters; the cipher's key is derived from it (HKDF, RFC 5869)
   * @param otherKey opens secrets that were sealed under it
   */
  constructor(masterKey: string, otherKey: string | null = null) {
    this.key = Buffer.from(hkdfSync('sha256', masterKey, '', 'plinth secret box v1', 32));
    this.other = otherKey === null ? null : new SecretBox(otherKey);
  }

  /**
   * @param purpose kind and owner of the secret (`jwt-secret:<project id>`), authenticated with it: a
   * ciphertext that is moved elsewhere does not decrypt
   */
  seal(plaintext: string, purpose: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([VERSION]), iv, cipher.getAuthTag(), sealed]);
  }

  /** @throws Error for another key or purpose, or an altered ciphertext */
  open(box: Buffer, purpose: string): string {
    if (!this.other) return this.decrypt(box, purpose);
    try {
      return this.decrypt(box, purpose);
    } catch {
      return this.other.open(box, purpose);
    }
  }

  /** A value that a browser carries: sealed JSON in base64url. */
  sealToken(value: object, purpose: string): string {
    return this.seal(JSON.stringify(value), purpose).toString('base64url');
  }

  /** @returns the value given to sealToken(); null for a text that it did not make */
  openToken<T extends object>(token: string, purpose: string): T | null {
    if (!/^[\w-]+$/.test(token)) return null;
    try {
      return JSON.parse(this.open(Buffer.from(token, 'base64url'), purpose)) as T;
    } catch {
      return null;
    }
  }

  /** @returns the secret sealed under the first key; null if it already was, or if neither key opens it */
  reseal(box: Buffer, purpose: string): Buffer | null {
    try {
      return this.other && this.seal(this.other.open(box, purpose), purpose);
    } catch {
      return null;
    }
  }

  private decrypt(box: Buffer, purpose: string): string {
    if (box[0] !== VERSION) throw new Error('unknown version of an encrypted secret');
    const iv = box.subarray(1, 1 + IV_BYTES);
    const tag = box.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag);
    const sealed = box.subarray(1 + IV_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  }
}
