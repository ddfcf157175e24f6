/** Encryption of secrets at rest: AES-256-GCM under MASTER_KEY (NIST SP 800-38D). */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class SecretBox {
  private readonly key: Buffer;

  /** @param masterKey any text of at least 32 characters; the cipher's key is derived from it (HKDF, RFC 5869) */
  constructor(masterKey: string) {
    this.key = Buffer.from(hkdfSync('sha256', masterKey, '', 'plinth secret box v1', 32));
  }

  /**
   * @param purpose kind and owner of the secret (`jwt-secret:<project id>`), authenticated with it: a ciphertext that is
   *   moved to another place does not decrypt
   */
  seal(plaintext: string, purpose: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([VERSION]), iv, cipher.getAuthTag(), sealed]);
  }

  /** @throws Error for another key or purpose, or an altered ciphertext */
  open(box: Buffer, purpose: string): string {
    if (box[0] !== VERSION) throw new Error('unknown version of an encrypted secret');
    const iv = box.subarray(1, 1 + IV_BYTES);
    const tag = box.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag);
    const sealed = box.subarray(1 + IV_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  }
}
