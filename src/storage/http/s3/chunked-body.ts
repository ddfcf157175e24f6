/**
 * Content-Encoding aws-chunked: `<size in hexadecimal>[;chunk-signature=<signature>]`, the bytes, and after
 * the last chunk, which is empty, the trailing headers. Bytes are passed on as they arrive. The signature of
 * a chunk is checked at its end; the file becomes visible only after the last chunk.
 */
import { createHash, type Hash } from 'node:crypto';
import { Slices } from '../../../common/time/slices';
import { incompleteBody, invalidRequest, signatureMismatch } from './s3.errors';
import { type ChunkSigner, sha256 } from './signature';

const CHUNK_HEAD = /^([0-9a-f]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?$/i;
/** Maximum bytes of a line. */
const MAX_LINE = 1_024;
const MAX_TRAILERS = 10;
/** Bytes that are passed on together: a client may send chunks of one byte. */
const PIECE = 16 * 1024;
const LINE_END = Buffer.from('\r\n');

export class ChunkedBody {
  /** The trailing headers, with names in lower case; complete at the end. */
  readonly trailers = new Map<string, string>();
  private rest: Buffer = Buffer.alloc(0);
  private readonly source: AsyncIterator<Buffer>;

  /** @param signer null if chunks are not signed @param hasTrailer whether the request announced trailing headers */
  constructor(
    source: AsyncIterable<Buffer>,
    private readonly signer: ChunkSigner | null,
    private readonly hasTrailer: boolean,
  ) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** The bytes of the chunks. @throws AppError 400 for a malformed body, 403 for a wrong signature */
  async *bytes(): AsyncGenerator<Buffer, void, undefined> {
    const slices = new Slices();
    let [small, bytes]: [Buffer[], number] = [[], 0];
    try {
      for (;;) {
        if (slices.isOver) await slices.yieldToLoop();
        const [, size = '', signature] = CHUNK_HEAD.exec(await this.line()) ?? [];
        if (size === '' || (this.signer !== null) !== (signature !== undefined)) throw incompleteBody();
        const hash = this.signer ? createHash('sha256') : null;
        const length = Number.parseInt(size, 16);
        for await (const piece of this.chunk(length, hash)) {
          small.push(piece);
          bytes += piece.length;
          if (bytes < PIECE) continue;
          yield small.length === 1 ? piece : Buffer.concat(small, bytes);
          [small, bytes] = [[], 0];
        }
        if (this.signer && !this.signer.isNext(String(signature), String(hash?.digest('hex'))))
          throw signatureMismatch();
        if (length === 0) break;
        if ((await this.line()) !== '') throw incompleteBody();
      }
      if (bytes > 0) yield Buffer.concat(small, bytes);
      await this.readTrailers();
    } finally {
      // Not awaited: a read that waits for the client ends with the request.
      void this.source.return?.(undefined);
    }
  }

  private async *chunk(length: number, hash: Hash | null): AsyncGenerator<Buffer, void, undefined> {
    for (let left = length; left > 0;) {
      if (this.rest.length === 0) this.rest = await this.next();
      const bytes = this.rest.subarray(0, left);
      this.rest = this.rest.subarray(bytes.length);
      left -= bytes.length;
      hash?.update(bytes);
      yield bytes;
    }
  }

  private async readTrailers(): Promise<void> {
    let signed = '';
    for (let count = 0; ; count += 1) {
      const line = await this.line(true);
      if (line === '' && (this.signer === null || !this.hasTrailer || signed === '')) return;
      const [name = '', ...value] = line.split(':');
      const text = value.join(':').trim();
      if (name === 'x-amz-trailer-signature') {
        if (!this.signer?.isTrailer(text, sha256(signed))) throw signatureMismatch();
        return;
      }
      if (line === '') throw signatureMismatch();
      if (!this.hasTrailer || count >= MAX_TRAILERS || text === '')
        throw invalidRequest('The trailing headers are malformed');
      this.trailers.set(name.toLowerCase(), text);
      signed += `${name.toLowerCase()}:${text}\n`;
    }
  }

  /** @param mayEnd whether the body may end in place of the line */
  private async line(mayEnd = false): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf(LINE_END);
      if (end >= 0) {
        const line = this.rest.subarray(0, end).toString('latin1');
        this.rest = this.rest.subarray(end + LINE_END.length);
        return line;
      }
      if (this.rest.length > MAX_LINE) throw incompleteBody();
      const more = await this.source.next();
      if (more.done === true) {
        if (mayEnd && this.rest.length === 0) return '';
        throw incompleteBody();
      }
      this.rest = Buffer.concat([this.rest, more.value]);
    }
  }

  private async next(): Promise<Buffer> {
    const more = await this.source.next();
    if (more.done === true) throw incompleteBody();
    return more.value;
  }
}
