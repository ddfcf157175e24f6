/**
 * The multipart form of an upload, read from the socket as it comes: fields before the part named `file`, its bytes, fields
 * after it. Nothing of the file is held but what may wait to be taken. busboy reads the form; once it is inside the file, the
 * bytes go past it up to where the part ends.
 */
import busboy from 'busboy';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Memory } from '../../http/bodies/body-budget';
import { BodyPace, type PaceLimits } from '../../http/bodies/body-pace';
import { assertNotEncoded } from '../../http/bodies/content-encoding';
import { invalidParameters, uploadStalled } from '../storage.errors';
import { UploadForm } from '../files/upload-form';
import { UPLOAD_PARAMETERS } from '../files/upload.service';
import { BoundaryCheck } from './boundary-check';
import { BoundarySearch } from './boundary-search';
import { ChunkQueue } from './chunk-queue';
import { boundaryOf, delimiterOf, formHeader, isForm } from './form-boundary';
import { ReplacementCheck } from './replacement-check';

const FILE_PART = 'file';
const LIMITS = { files: 1, fields: 20, fieldNameSize: 100, fieldSize: 64 * 1024, headerPairs: 20 };
/** Bytes of a form beside its file: all fields with their heads, and then some. What belongs to no part counts, too. */
const MAX_BESIDE = 2 * 1024 * 1024;
/** Bytes that may wait to be taken before the socket must. */
export const MAX_WAITING = 256 * 1024;
/** Bytes of memory for each byte of a field: what was read of it, and its text. */
const FIELD_MULTIPLE = 4;

/** A form that is being read. */
export interface OpenForm extends UploadForm {
  /** Why the form ended early, if it did. */
  readonly failure: Error | null;
  /** Gives up: nothing more is read. */
  stop(): void;
}

/**
 * Reads up to the beginning of the file's bytes.
 * @param memory where the form's fields are counted
 * @throws AppError 400 when there is no such part, or the form is broken, 408, 415 when it is compressed, and what `memory` throws
 */
export async function openMultipartForm(
  request: IncomingMessage,
  pace: PaceLimits,
  memory: Memory,
): Promise<OpenForm> {
  assertNotEncoded(request);
  return new MultipartForm(request, pace, memory).begin();
}

class MultipartForm implements OpenForm {
  readonly fields = new Map<string, string>();
  filename: string | null = null;
  declaredType: string | null = null;
  readonly bytes = new ChunkQueue(() => this.goOn());
  failure: Error | null = null;

  private readonly parser: busboy.Busboy;
  private readonly ended: Promise<void>;
  private readonly delimiter: Buffer;
  private readonly check: BoundaryCheck;
  private readonly text = new ReplacementCheck();
  private fail!: (error: Error) => void;
  private begun: (() => void) | null = null;
  private readonly pace: BodyPace;
  private stage: 'before' | 'file' | 'after' = 'before';
  /** Bytes that came and are not the file's. */
  private beside = 0;
  /** Set while the file's bytes go past busboy. */
  private search: BoundarySearch | null = null;

  constructor(
    private readonly request: IncomingMessage,
    pace: PaceLimits,
    private readonly memory: Memory,
  ) {
    const boundary = boundaryFrom(request);
    this.parser = createParser(boundary);
    this.delimiter = delimiterOf(boundary);
    this.check = new BoundaryCheck(this.delimiter);
    this.ended = new Promise((resolve, reject) => {
      this.parser.once('close', () => (this.failure ? reject(this.failure) : resolve()));
      this.fail = (error) => {
        this.failure ??= error;
        reject(this.failure);
        this.stop();
      };
    });
    // A caller that does not wait for the end has another error to answer with.
    this.ended.catch(() => undefined);
    this.pace = new BodyPace(pace, false, () => this.fail(uploadStalled()));
  }

  async begin(): Promise<this> {
    const fileBegins = new Promise<void>((resolve) => (this.begun = resolve));
    this.listen();
    await Promise.race([fileBegins, this.ended]);
    if (this.stage === 'before')
      throw invalidParameters(`The form has no part named "${FILE_PART}" that holds a file`);
    return this;
  }

  end(): Promise<void> {
    return this.ended;
  }

  stop(): void {
    const { request } = this;
    this.pace.end();
    request.off('data', this.read);
    request.off('end', this.close);
    request.pause();
    this.bytes.fail(this.failure ?? new Error('the form was given up'));
    this.parser.destroy();
  }

  private listen(): void {
    const { parser, request } = this;
    parser.on('file', (name, stream, { filename, mimeType }) => this.take(name, stream, filename, mimeType));
    parser.on('field', (name, value: string | undefined, info) => {
      // What busboy gives for a charset that nobody knows.
      if (value === undefined) this.fail(invalidParameters(`The field ${name} is in an unknown charset`));
      else if (info.nameTruncated || info.valueTruncated)
        this.fail(invalidParameters('A field of the form is too long'));
      else if (!this.text.passes(value))
        this.fail(invalidParameters(`The field ${name} is not in the charset that it says, or UTF-8`));
      else if (this.fields.has(name) && isParameter(name))
        this.fail(invalidParameters(`${name} must be given once`));
      else this.keep(name, value);
    });
    parser.on('filesLimit', () => this.fail(invalidParameters('The form has more than one file')));
    parser.on('fieldsLimit', () => this.fail(invalidParameters('The form has too many fields')));
    parser.on('error', (error) =>
      this.fail(invalidParameters('The form is not valid multipart/form-data', error)),
    );
    const brokenOff = (): void => this.fail(invalidParameters('The upload broke off'));
    request.once('aborted', brokenOff);
    request.once('error', brokenOff);
    // What happened before is not told again.
    if (request.destroyed) brokenOff();
    request.on('end', this.close);
    request.on('data', this.read);
  }

  private keep(name: string, value: string): void {
    try {
      this.memory.grow(FIELD_MULTIPLE * value.length);
      this.fields.set(name, value);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private readonly close = (): void => {
    this.pace.end();
    this.parser.end();
  };

  private readonly read = (chunk: Buffer): void => {
    this.pace.take(chunk.length);
    this.beside += chunk.length;
    const rest = this.search ? this.search.push(chunk, this.hand) : chunk;
    if (rest) this.parse(rest);
    if (this.beside > MAX_BESIDE) this.fail(invalidParameters('The form holds too much beside its file'));
    if (this.bytes.bytes >= MAX_WAITING) this.pause();
  };

  private readonly hand = (bytes: Buffer): void => {
    this.beside -= bytes.length;
    this.bytes.push(bytes);
  };

  /** What is not inside the file. Takes it whole: limits are few, and busboy keeps no more than a field. */
  private parse(chunk: Buffer): void {
    if (!this.check.passes(chunk)) {
      this.fail(invalidParameters('A line of the form begins with its boundary and does not end with it'));
      return;
    }
    this.text.read(chunk);
    this.parser.write(chunk);
    this.search =
      this.stage === 'file' && chunk.length >= this.delimiter.length
        ? new BoundarySearch(this.delimiter, chunk)
        : null;
  }

  /** While the provider takes no more, the sender is not to blame. */
  private pause(): void {
    this.request.pause();
    this.pace.pause();
  }

  /** Some of the file's bytes were taken. */
  private goOn(): void {
    if (!this.request.isPaused() || this.failure !== null || this.bytes.bytes >= MAX_WAITING) return;
    this.pace.resume();
    this.request.resume();
  }

  private take(name: string, stream: Readable, filename: string | undefined, mimeType: string): void {
    // An error of the stream is the form's, which is told by `fail`.
    stream.on('error', () => undefined);
    stream.resume();
    if (name !== FILE_PART) {
      this.fail(invalidParameters(`The file must be in the part named "${FILE_PART}"`));
      return;
    }
    this.stage = 'file';
    // A name that cannot be read is none: the address, or a field, may give another.
    const isReadable = filename !== undefined && this.text.passes(filename);
    this.filename = isReadable ? unescapeFilename(filename) : null;
    this.declaredType = mimeType;
    this.divert(stream);
    this.begun?.();
  }

  /** Takes the file's bytes when busboy has them, not when the stream comes round to it: whether the part has ended must be known at once. */
  private divert(stream: Readable): void {
    const push = stream.push.bind(stream);
    stream.push = (chunk: Buffer | null) => {
      if (chunk === null) {
        this.stage = 'after';
        this.bytes.end();
        return push(null);
      }
      // What comes during a search was held back by busboy before it, and by the search as well.
      if (!this.search) this.hand(chunk);
      return true;
    };
  }
}

const isParameter = (name: string): boolean => (UPLOAD_PARAMETERS as readonly string[]).includes(name);

/** @throws AppError 400 */
function boundaryFrom({ headers }: IncomingMessage): string {
  const type = headers['content-type'] ?? '';
  if (!isForm(type)) throw invalidParameters('The body must be multipart/form-data');
  const boundary = boundaryOf(type);
  if (boundary === null) throw invalidParameters('The Content-Type header has no boundary');
  return boundary;
}

/** Told the boundary as it was read here: two readers of one header may find two. */
function createParser(boundary: string): busboy.Busboy {
  const headers = { 'content-type': formHeader(boundary) };
  return busboy({ headers, limits: LIMITS, defParamCharset: 'utf8', preservePath: true });
}

/** Browsers and fetch escape three characters of a file's name (WHATWG HTML, "multipart/form-data encoding algorithm"). */
function unescapeFilename(name: string): string {
  return name.replace(/%(22|0D|0A)/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
