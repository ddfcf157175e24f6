/** Objects of S3, with the ETags that AWS gives them. */
import { createHash } from 'node:crypto';
import { Content } from './content';

export interface S3Object {
  readonly content: Content;
  readonly etag: string;
  modified: Date;
}

export function toObject(content: Content): S3Object {
  return { content, etag: `"${md5Of(content)}"`, modified: new Date() };
}

/** AWS's ETag of a multipart object: a hash of the hashes of its parts, and the number of parts. */
export function joined(parts: readonly Pick<S3Object, 'content' | 'etag'>[]): S3Object {
  const content = new Content();
  for (const part of parts) for (const piece of part.content) content.append(piece);
  const hashes = parts.map(({ etag }) => Buffer.from(etag.replaceAll('"', ''), 'hex'));
  return { content, etag: `"${md5Of(hashes)}-${parts.length}"`, modified: new Date() };
}

function md5Of(pieces: Iterable<Buffer>): string {
  const hash = createHash('md5');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
