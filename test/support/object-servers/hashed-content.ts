/**
 * Content with Google's checksums. Each chunk is hashed when it arrives, so that the response follows the last chunk
 * immediately.
 */
import { createHash } from 'node:crypto';
import { Content } from './content';
import { Crc32c } from './crc32c';

export class HashedContent extends Content {
  private readonly md5 = createHash('md5');
  private readonly crc = new Crc32c();

  override append(piece: Buffer): this {
    this.md5.update(piece);
    this.crc.update(piece);
    return super.append(piece);
  }

  get md5Hash(): string {
    return this.md5.copy().digest('base64');
  }

  get crc32c(): string {
    return this.crc.toString();
  }
}
