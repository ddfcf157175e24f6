/**
 * The multipart form of an upload, read from the socket as it comes: fields before the part named `file`, its bytes, fields
 * after it. Nothing of the file is held but what streams buffer.
 */
import busboy from 'busboy';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { invalidParameters, uploadStalled } from '../storage.errors';
import { UploadForm } from '../files/upload-form';

const FILE_PART = 'file';
/** Milliseconds without a byte after which an upload counts as abandoned. */
const IDLE_LIMIT_MS = 60_000;
const LIMITS = { files: 1, fields: 20, fieldNameSize: 100, fieldSize: 64 * 1024, headerPairs: 20 };

/**
 * Reads up to the beginning of the file's bytes.
 * @throws AppError 400 when there is no such part, or the form is broken
 */
export function openMultipartForm(request: IncomingMessage): Promise<UploadForm> {
  return new MultipartForm(request).begin();
}

class MultipartForm implements UploadForm {
  readonly fields = new Map<string, string>();
  filename: string | null = null;
  declaredType: string | null = null;
  bytes!: Readable;
  failure: Error | null = null;

  private readonly parser: busboy.Busboy;
  private readonly ended: Promise<void>;
  private begun!: () => void;
  private fail!: (error: Error) => void;
  private hasFile = false;

  constructor(private readonly request: IncomingMessage) {
    this.parser = createParser(request);
    this.ended = new Promise((resolve, reject) => {
      this.parser.once('close', () => (this.failure ? reject(this.failure) : resolve()));
      this.fail = (error) => {
        this.failure ??= error;
        reject(this.failure);
        this.stop();
      };
    });
    // Whoever does not wait for the end has another error to answer with.
    this.ended.catch(() => undefined);
  }

  async begin(): Promise<this> {
    const fileBegins = new Promise<void>((resolve) => (this.begun = resolve));
    this.listen();
    this.request.pipe(this.parser);
    await Promise.race([fileBegins, this.ended]);
    if (!this.hasFile) throw invalidParameters(`The form has no part named "${FILE_PART}" that holds a file`);
    return this;
  }

  async end(): Promise<void> {
    await this.ended;
    this.request.setTimeout(0);
  }

  stop(): void {
    this.request.setTimeout(0);
    this.request.unpipe(this.parser);
    this.parser.destroy();
  }

  private listen(): void {
    this.parser.on('file', (name, stream, { filename, mimeType }) =>
      this.take(name, stream, filename, mimeType),
    );
    this.parser.on('field', (name, value, info) => {
      if (info.nameTruncated || info.valueTruncated)
        this.fail(invalidParameters('A field of the form is too long'));
      else this.fields.set(name, value);
    });
    this.parser.on('filesLimit', () => this.fail(invalidParameters('The form has more than one file')));
    this.parser.on('fieldsLimit', () => this.fail(invalidParameters('The form has too many fields')));
    this.parser.on('error', (error) =>
      this.fail(invalidParameters('The form is not valid multipart/form-data', error)),
    );
    const brokenOff = (): void => this.fail(invalidParameters('The upload broke off'));
    this.request.once('aborted', brokenOff);
    this.request.once('error', brokenOff);
    this.request.setTimeout(IDLE_LIMIT_MS, () => this.fail(uploadStalled()));
  }

  private take(name: string, stream: Readable, filename: string | undefined, mimeType: string): void {
    // An error of the stream is the form's, which is told by `fail`.
    stream.on('error', () => undefined);
    if (name !== FILE_PART) {
      stream.resume();
      this.fail(invalidParameters(`The file must be in the part named "${FILE_PART}"`));
      return;
    }
    this.hasFile = true;
    this.bytes = stream;
    this.filename = filename === undefined ? null : unescapeFilename(filename);
    this.declaredType = mimeType;
    this.begun();
  }
}

function createParser(request: IncomingMessage): busboy.Busboy {
  const { headers } = request;
  if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? '')) {
    throw invalidParameters('The body must be multipart/form-data');
  }
  try {
    return busboy({
      headers,
      limits: LIMITS,
      defParamCharset: 'utf8',
      preservePath: true,
      highWaterMark: 256 * 1024,
    });
  } catch (error) {
    throw invalidParameters('The Content-Type header has no boundary', error);
  }
}

/** Browsers and fetch escape three characters of a file's name (WHATWG HTML, "multipart/form-data encoding algorithm"). */
function unescapeFilename(name: string): string {
  return name.replace(/%(22|0D|0A)/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
