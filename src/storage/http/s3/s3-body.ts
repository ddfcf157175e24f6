/**
 * The body of a request as a file: extracts the bytes from their chunks, and compares them with the digests
 * that the client declared.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Request } from 'express';
import type { PaceLimits } from '../../../admission/body-pace';
import { readBytes } from '../supabase/raw-body';
import { algorithmOf, type Checksum, type ChecksumAlgorithm, newChecksum } from './checksums';
import { ChunkedBody } from './chunked-body';
import {
  badDigest,
  contentMismatch,
  incompleteBody,
  invalidRequest,
  notImplemented,
  s3Error,
} from './s3.errors';
import { type ChunkSigner, UNSIGNED } from './signature';

const STREAMING = /^STREAMING-(AWS4-HMAC-SHA256-PAYLOAD|UNSIGNED-PAYLOAD)(-TRAILER)?$/;
const SHA256 = /^[0-9a-f]{64}$/;

interface Declared {
  readonly algorithm: ChecksumAlgorithm;
  /** The checksum in base64; null if it is in the trailer. */
  readonly value: string | null;
}

export class S3Body {
  private readonly md5 = createHash('md5');
  private readonly chunks: ChunkedBody | null;
  private readonly source: AsyncIterable<Buffer>;
  private readonly declared: Declared | null;
  private checksum: Checksum | null = null;
  private sha256: Hash | null = null;
  private size = 0;
  private md5Digest: Buffer | null = null;

  /**
   * @param payload the signed x-amz-content-sha256
   * @param isHashed whether the reader of the bytes measures their SHA-256 itself, and gives it to assertSound()
   * @throws AppError 400 for invalid headers, 501 for an unsupported form of x-amz-content-sha256 or encoding
   */
  constructor(
    private readonly request: Request,
    pace: PaceLimits,
    private readonly payload: string,
    { signer, isHashed = false }: { signer: ChunkSigner; isHashed?: boolean },
  ) {
    const [, kind, trailer] = STREAMING.exec(payload) ?? [];
    if (kind === undefined && payload !== UNSIGNED && !SHA256.test(payload))
      throw notImplemented('This form of x-amz-content-sha256');
    assertEncoding(request, kind !== undefined);
    this.declared = declaredChecksum(request, trailer !== undefined);
    const bytes = readBytes(request, pace);
    const isSigned = kind === 'AWS4-HMAC-SHA256-PAYLOAD';
    this.chunks =
      kind === undefined ? null : new ChunkedBody(bytes, isSigned ? signer : null, trailer !== undefined);
    this.source = this.chunks?.bytes() ?? bytes;
    if (!isHashed && SHA256.test(payload)) this.sha256 = createHash('sha256');
  }

  /** Bytes of the file; null if they are not announced. */
  get length(): number | null {
    return announcedBytes(this.request);
  }

  async *bytes(): AsyncGenerator<Buffer, void, undefined> {
    if (this.declared) this.checksum = await newChecksum(this.declared.algorithm);
    for await (const chunk of this.source) {
      this.size += chunk.length;
      this.md5.update(chunk);
      this.checksum?.update(chunk);
      this.sha256?.update(chunk);
      yield chunk;
    }
  }

  /** Call it after all bytes have been read. @param sha256 of them, if it is known @throws AppError 400 for bytes that do not match */
  async assertSound(sha256?: string): Promise<void> {
    const { length, declared } = this;
    if (length !== null && length !== this.size) throw incompleteBody();
    const digest = sha256 ?? this.sha256?.digest('hex');
    if (SHA256.test(this.payload) && digest !== this.payload) throw contentMismatch();
    const md5 = this.request.get('content-md5');
    if (md5 !== undefined && md5 !== this.digest().toString('base64')) throw badDigest();
    if (!declared || !this.checksum) return;
    const value = declared.value ?? this.chunks?.trailers.get(`x-amz-checksum-${declared.algorithm}`);
    if (value !== (await this.checksum.digest())) throw badDigest();
  }

  /** The MD5; call it after all bytes have been read. */
  digest(): Buffer {
    return (this.md5Digest ??= this.md5.digest());
  }
}

/** The length without the framing of chunks. @throws AppError 400 for an invalid length */
function announcedBytes({ headers }: Request): number | null {
  const decoded = headers['x-amz-decoded-content-length'];
  const text = decoded ?? headers['content-length'];
  if (text === undefined) return null;
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw invalidRequest('The length of the body is malformed');
  return Number(text);
}

/**
 * @throws AppError 400 for an encoding that contradicts the chunks, 501 for an encoding of the file itself,
 * which would not be kept
 */
function assertEncoding(request: Request, isChunked: boolean): void {
  const codings = (request.get('content-encoding') ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase());
  const own = codings.filter((coding) => coding !== '' && coding !== 'aws-chunked' && coding !== 'identity');
  if (own.length > 0) throw notImplemented('Content-Encoding of an object');
  if (codings.includes('aws-chunked') && !isChunked)
    throw invalidRequest('aws-chunked needs a STREAMING form of x-amz-content-sha256');
  const md5 = request.get('content-md5');
  if (md5 !== undefined && Buffer.from(md5, 'base64').length !== 16)
    throw s3Error(400, 'InvalidDigest', 'Content-MD5 is not an MD5 in base64');
}

/** @throws AppError 400 for an invalid checksum, or several */
function declaredChecksum(request: Request, hasTrailer: boolean): Declared | null {
  const given = Object.entries(request.headers).flatMap(([name, value]) => {
    const algorithm = algorithmOf(name);
    return algorithm === null ? [] : [{ algorithm, value: String(value) }];
  });
  const announced = hasTrailer ? algorithmOf(request.get('x-amz-trailer') ?? '') : null;
  if (hasTrailer && announced === null) throw invalidRequest('x-amz-trailer must name a checksum');
  const all: Declared[] = announced === null ? given : [...given, { algorithm: announced, value: null }];
  if (all.length > 1) throw invalidRequest('A request may have only one checksum');
  return all[0] ?? null;
}
