/**
 * A process that makes pictures, one at a time. Its output is checked, because a hostile file may have taken
 * over the process.
 */
import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'gif'] as const;
export type OutputFormat = (typeof FORMATS)[number];
export type Resizing = 'fill' | 'fit' | 'force';

export interface PictureOptions {
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly resizing: Resizing;
  readonly quality: number;
  readonly format: 'origin' | 'avif' | 'webp';
}

export interface Picture {
  readonly bytes: Buffer;
  readonly format: OutputFormat;
}

export interface PictureJob extends PictureOptions {
  /** Bytes of the file. */
  readonly size: number;
  readonly maxPixels: number;
  readonly maxSide: number;
  readonly seconds: number;
}

/** The file is not a picture, or is in an unsupported format. */
export class BadPictureError extends Error {
  /** True if the content is not in the format that was expected. */
  get isOtherFormat(): boolean {
    return this.message.includes('unsupported image format');
  }
}

/** The process crashed, hung, or used too much memory. */
export class PictureProcessError extends Error {
  /** @param isFinal whether a second attempt would end the same way */
  constructor(
    message: string,
    readonly isFinal = false,
  ) {
    super(message);
  }
}

const MAX_HEADER = 4_096;
/** Maximum bytes of the output: the maximum number of pixels without compression. */
const MAX_OUTPUT = 32 * 1024 * 1024;
/** Milliseconds of grace after the time limit: the decoder should stop earlier by itself. */
const GRACE_MS = 3_000;

export class PictureProcess {
  private readonly child: ChildProcess;
  private readonly output: Output;
  private readonly ended: Promise<void>;

  constructor() {
    // Started without environment variables, because they contain secrets of the server.
    this.child = spawn(process.execPath, ['--max-old-space-size=64', join(__dirname, 'picture-worker.cjs')], {
      env: { MALLOC_ARENA_MAX: '2' },
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.output = new Output(this.child.stdout as Readable);
    this.ended = new Promise((resolve) => {
      this.child.once('error', () => resolve());
      this.child.once('exit', () => resolve());
    });
    // A broken pipe means the end of the process, which `ended` reports.
    this.child.stdin?.on('error', () => undefined);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined;
  }

  /** @throws BadPictureError, PictureProcessError (the process has ended by then), or the error of `bytes` */
  async render(job: PictureJob, bytes: AsyncIterable<Buffer>): Promise<Picture> {
    let isTimeout = false;
    const timer = setTimeout(
      () => {
        isTimeout = true;
        this.end();
      },
      job.seconds * 1000 + GRACE_MS,
    );
    const gone = this.ended.then(() => {
      throw new PictureProcessError('the process for pictures ended', isTimeout);
    });
    gone.catch(() => undefined);
    try {
      return await Promise.race([this.exchange(job, bytes), gone]);
    } catch (error) {
      if (!(error instanceof BadPictureError)) this.end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.child.kill('SIGKILL');
  }

  private async exchange(job: PictureJob, bytes: AsyncIterable<Buffer>): Promise<Picture> {
    const stdin = this.child.stdin as Writable;
    const header = Buffer.from(JSON.stringify(job));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(header.length);
    stdin.write(Buffer.concat([length, header]));
    // A chunk is valid only until the next chunk is requested.
    let left = job.size;
    for await (const chunk of bytes) {
      left -= chunk.length;
      await written(stdin, chunk);
    }
    // The size comes from the row, which the owner can change; the process would wait for missing bytes.
    if (left !== 0) throw new PictureProcessError('the file has fewer bytes than its row says', true);
    const answer = parseAnswer(
      await this.output.take((await this.output.take(4)).readUInt32BE(), MAX_HEADER),
    );
    const picture = await this.output.take(answer.size, MAX_OUTPUT);
    if (answer.error !== null) throw new BadPictureError(answer.error);
    return { bytes: picture, format: formatOf(answer.format) };
  }
}

function written(stdin: Writable, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(chunk, (error) => (error ? reject(new PictureProcessError(String(error))) : resolve()));
  });
}

/** Reads exact numbers of bytes from a stream. */
class Output {
  constructor(private readonly stream: Readable) {}

  async take(length: number, most = length): Promise<Buffer> {
    if (length > most) throw new PictureProcessError('the process for pictures answered with too many bytes');
    const parts: Buffer[] = [];
    for (let left = length; left > 0;) {
      const chunk = this.stream.read(Math.min(left, this.stream.readableLength || left)) as Buffer | null;
      if (chunk === null) await once(this.stream, 'readable');
      else {
        parts.push(chunk);
        left -= chunk.length;
      }
    }
    return Buffer.concat(parts, length);
  }
}

function parseAnswer(header: Buffer): { size: number; error: string | null; format: unknown } {
  try {
    const { size, error = null, format } = JSON.parse(header.toString()) as Record<string, unknown>;
    if (Number.isSafeInteger(size) && Number(size) >= 0 && (error === null || typeof error === 'string'))
      return { size: Number(size), error, format };
  } catch {
    // Handled with headers that are JSON, but not the expected one.
  }
  throw invalidAnswer();
}

function formatOf(value: unknown): OutputFormat {
  const format = FORMATS.find((name) => name === value);
  if (format === undefined) throw invalidAnswer();
  return format;
}

const invalidAnswer = (): Error => new PictureProcessError('the process for pictures sent no valid answer');
