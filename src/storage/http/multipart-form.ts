/**
 * The multipart form of an upload, read while it arrives: fields before the part `file`, the file's bytes, fields after it.
 * busboy parses it. What busboy cannot do is done here and in two other files:
 * - form-checks.ts refuses malformed forms that busboy would misread;
 * - file-part.ts finds the end of the file natively, and bounds the memory for a file sent in single bytes. The file's bytes bypass
 *   busboy, which needs three times as long to search them (250 against 80 microseconds per MiB; their hash takes 600);
 * - fields count against the memory for bodies;
 * - a form that arrives too slowly, or holds too much besides its file, is refused.
 */
import busboy from 'busboy';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Reservation } from '../../admission/memory-budget';
import { BodyPace, type PaceLimits } from '../../admission/body-pace';
import { assertNotEncoded } from '../../http/bodies/content-encoding';
import { invalidParameters, uploadStalled } from '../storage.errors';
import { UPLOAD_PARAMETERS, type UploadForm } from '../files/upload';
import { BoundaryCheck, boundaryOf, delimiterOf, formHeader, isForm, ReplacementCheck } from './form-checks';
import { BoundarySearch, ChunkQueue } from './file-part';

const LIMITS = { files: 1, fields: 20, fieldNameSize: 100, fieldSize: 64 * 1024, headerPairs: 20 };
/** Maximum bytes of a form apart from its file, including preamble and epilogue. LIMITS alone would allow 1.3 MiB of fields. */
const MAX_OTHER_BYTES = 2 * 1024 * 1024;
/** Maximum bytes of the file that wait for the provider before the socket is paused. */
export const MAX_WAITING = 256 * 1024;
/** Bytes of memory per byte of a field: the received bytes, and their text. */
const FIELD_MULTIPLE = 4;

type FormMemory = Pick<Reservation, 'grow' | 'release'>;

interface FormKind extends Pick<UploadForm, 'asDeclared'> {
  /** The name of the part that contains the file; null for any part. */
  readonly filePart: string | null;
}

const DETECTED: FormKind = { filePart: 'file', asDeclared: false };

/**
 * Reads a form up to the first byte of its file.
 * @param memory counts the fields of the form, and is released with it
 * @throws AppError 400 if the form is malformed or has no file, 408 if it arrives too slowly, 415 if it is
 * compressed, and errors of `memory`
 */
export async function openMultipartForm(
  request: IncomingMessage,
  pace: PaceLimits,
  memory: FormMemory,
  kind: FormKind = DETECTED,
): Promise<UploadForm> {
  try {
    assertNotEncoded(request);
    return await new MultipartForm(request, pace, memory, kind).begin();
  } catch (error) {
    memory.release();
    throw error;
  }
}

class MultipartForm implements UploadForm {
  readonly asDeclared: boolean;
  readonly fields = new Map<string, string>();
  filename: string | null = null;
  declaredType: string | null = null;
  readonly bytes = new ChunkQueue(() => this.resumeSocket());
  failure: Error | null = null;

  private readonly filePart: string | null;
  private readonly parser: busboy.Busboy;
  private readonly ended: Promise<void>;
  private readonly delimiter: Buffer;
  private readonly check: BoundaryCheck;
  private readonly text = new ReplacementCheck();
  private fail!: (error: Error) => void;
  private onFile: (() => void) | null = null;
  private readonly pace: BodyPace;
  private stage: 'before' | 'file' | 'after' = 'before';
  /** Number of received bytes that do not belong to the file. */
  private otherBytes = 0;
  /** Set while the file's bytes bypass busboy. */
  private search: BoundarySearch | null = null;

  constructor(
    private readonly request: IncomingMessage,
    pace: PaceLimits,
    private readonly memory: FormMemory,
    { filePart, asDeclared }: FormKind,
  ) {
    this.filePart = filePart;
    this.asDeclared = asDeclared;
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
    // A caller that does not wait for end() responds with another error.
    this.ended.catch(() => undefined);
    this.pace = new BodyPace(pace, false, () => this.fail(uploadStalled()));
  }

  async begin(): Promise<this> {
    const fileFound = new Promise<void>((resolve) => (this.onFile = resolve));
    this.listenToParser();
    this.listenToRequest();
    await Promise.race([fileFound, this.ended]);
    if (this.stage === 'before')
      throw invalidParameters(
        this.filePart === null
          ? 'The form contains no file'
          : `The form has no part named "${this.filePart}" that holds a file`,
      );
    return this;
  }

  end(): Promise<void> {
    return this.ended;
  }

  release(): void {
    this.memory.release();
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

  private listenToParser(): void {
    const { parser } = this;
    const refuse = (message: string, cause?: unknown): void => this.fail(invalidParameters(message, cause));
    parser.on('file', (name, stream, info) => this.takeFile(name, stream, info));
    // busboy passes undefined for a charset that it does not know.
    parser.on('field', (name, value: string | undefined, info) => {
      const fault = this.fieldFault(name, value, info);
      if (fault !== null) refuse(fault);
      else if (value !== undefined) this.keepField(name, value);
    });
    parser.on('filesLimit', () => refuse('The form has more than one file'));
    parser.on('fieldsLimit', () => refuse('The form has too many fields'));
    parser.on('error', (error) => refuse('The form is not valid multipart/form-data', error));
  }

  private listenToRequest(): void {
    const { request } = this;
    const onBroken = (): void => this.fail(invalidParameters('The upload was interrupted'));
    request.once('aborted', onBroken);
    request.once('error', onBroken);
    // Earlier events are not emitted again.
    if (request.destroyed) onBroken();
    request.on('end', this.close);
    request.on('data', this.read);
  }

  /** @returns the reason why a field is refused; null if it is valid */
  private fieldFault(name: string, value: string | undefined, info: busboy.FieldInfo): string | null {
    if (value === undefined) return `The field ${name} is in an unknown charset`;
    if (info.nameTruncated || info.valueTruncated) return 'A field of the form is too long';
    if (!this.text.passes(value)) return `The field ${name} is not in its declared charset, or not in UTF-8`;
    return this.fields.has(name) && isParameter(name) ? `${name} must be given once` : null;
  }

  private keepField(name: string, value: string): void {
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
    this.otherBytes += chunk.length;
    const rest = this.search ? this.search.push(chunk, this.takeBytes) : chunk;
    if (rest) this.parse(rest);
    if (this.otherBytes > MAX_OTHER_BYTES)
      this.fail(invalidParameters('The form contains too much data in addition to its file'));
    if (this.bytes.bytes >= MAX_WAITING) this.pauseSocket();
  };

  private readonly takeBytes = (bytes: Buffer): void => {
    this.otherBytes -= bytes.length;
    this.bytes.push(bytes);
  };

  /** Passes bytes to busboy, except the middle of the file. Ignores its back pressure: it buffers a field at most. */
  private parse(chunk: Buffer): void {
    if (!this.check.passes(chunk)) {
      this.fail(invalidParameters('A line of the form begins with its boundary and continues after it'));
      return;
    }
    this.text.read(chunk);
    this.parser.write(chunk);
    this.search =
      this.stage === 'file' && chunk.length >= this.delimiter.length
        ? new BoundarySearch(this.delimiter, chunk)
        : null;
  }

  /** Stops reading until the provider has taken bytes. The client's speed is not measured while reading is paused. */
  private pauseSocket(): void {
    this.request.pause();
    this.pace.pause();
  }

  private resumeSocket(): void {
    if (!this.request.isPaused() || this.failure !== null || this.bytes.bytes >= MAX_WAITING) return;
    this.pace.resume();
    this.request.resume();
  }

  private takeFile(name: string, stream: Readable, { filename, mimeType }: busboy.FileInfo): void {
    // The parser emits the same error.
    stream.on('error', () => undefined);
    stream.resume();
    if (this.filePart !== null && name !== this.filePart) {
      this.fail(invalidParameters(`The file must be in the part named "${this.filePart}"`));
      return;
    }
    this.stage = 'file';
    // An invalid name is ignored, because the query string or a field may contain another name.
    const isReadable = filename !== undefined && this.text.passes(filename);
    this.filename = isReadable ? unescapeFilename(filename) : null;
    this.declaredType = mimeType;
    this.divert(stream);
    this.onFile?.();
  }

  /** Takes the file's bytes from busboy synchronously, because read() has to know whether the part has ended. */
  private divert(stream: Readable): void {
    const push = stream.push.bind(stream);
    stream.push = (chunk: Buffer | null) => {
      if (chunk === null) {
        this.stage = 'after';
        this.bytes.end();
        return push(null);
      }
      // During a search, busboy emits only bytes that it had held back before; the search has passed them on, too.
      if (!this.search) this.takeBytes(chunk);
      return true;
    };
  }
}

const isParameter = (name: string): boolean => UPLOAD_PARAMETERS.some((one) => one === name);

/** @throws AppError 400 without a valid boundary */
function boundaryFrom({ headers }: IncomingMessage): string {
  const type = headers['content-type'] ?? '';
  if (!isForm(type)) throw invalidParameters('The body must be multipart/form-data');
  const boundary = boundaryOf(type);
  if (boundary === null) throw invalidParameters('The Content-Type header has no boundary');
  return boundary;
}

/** Gives busboy the boundary that was read here: it might read another boundary from the same header. */
function createParser(boundary: string): busboy.Busboy {
  const headers = { 'content-type': formHeader(boundary) };
  return busboy({ headers, limits: LIMITS, defParamCharset: 'utf8', preservePath: true });
}

/** Browsers and fetch escape three characters of a file's name (WHATWG HTML, "multipart/form-data encoding algorithm"). */
function unescapeFilename(name: string): string {
  return name.replace(/%(22|0D|0A)/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
