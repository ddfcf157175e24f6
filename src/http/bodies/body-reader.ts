/**
 * Reads bodies into memory. Each one reserves memory on its sender's account before it is read and until its work is done
 * (memory-budget.ts), and has to arrive in time (body-pace.ts).
 */
import type { Request } from 'express';
import { AppError, invalidParameters } from '../../common/errors/app-error';
import { hasTooManyValues, MAX_VALUES } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import type { MemoryBudget, HeldBody, Reservation, Sender } from '../../admission/memory-budget';
import type { PaceLimits } from '../../admission/body-pace';
import { assertNotEncoded } from './content-encoding';
import { bodyHasTooManyValues, bodyNotJson, bodyTooLarge, mediaTypeNotJson } from './body.errors';
import { announcedLength, readBody } from './read-body';

export interface BodyKind {
  /** Bytes. */
  readonly limit: number;
  /** Bytes of memory for each byte of the body, including all data derived from it. */
  readonly multiple: number;
}

/** Bytes. */
export const MAX_JSON_BODY = 1024 * 1024;

/**
 * Bodies of accounts, buckets and settings are small. Nested arrays take the most memory when parsed: 28 bytes for each
 * byte of text on a 64-bit Node.
 */
const JSON_BODY: BodyKind = { limit: MAX_JSON_BODY, multiple: 32 };

/** Bytes by which the memory of a body without a length grows. */
const MIN_STEP = 1024;
const MAX_STEP = 64 * 1024;

interface LentBody extends HeldBody {
  readonly release: () => void;
}

/** Reserves nothing. */
const NO_BODY: LentBody = {
  bytes: Buffer.alloc(0),
  memory: { grow: () => undefined },
  release: () => undefined,
};

export class BodyReader {
  /**
   * @param pace the pace required of every body, also of a streamed body
   * @param senderOf the account on which a request's body is read
   */
  constructor(
    private readonly budget: MemoryBudget,
    readonly pace: PaceLimits,
    private readonly senderOf: (request: Request) => Sender,
  ) {}

  /**
   * Lends a body to `work`; its memory is counted until the work is done.
   * @throws AppError 413 for more than the limit, 415 for a compressed body, 503 when there is no memory for it, all three before
   * it is read; 400 when the client breaks off, 408 when it is too slow
   */
  async use<T>(request: Request, kind: BodyKind, work: (held: HeldBody) => Promise<T>): Promise<T> {
    const held = await this.hold(request, kind);
    try {
      return await work(held);
    } finally {
      held.release();
    }
  }

  /** Like use(), for a JSON body; `{}` when there is none. @throws AppError 400 for malformed JSON, 415 for another media type */
  useJson<T>(request: Request, work: (value: unknown) => Promise<T>): Promise<T> {
    return this.use(request, JSON_BODY, async ({ bytes }) => work(parseJson(request, bytes)));
  }

  /**
   * Reserves memory for a body that streams, of which this many bytes are held at a time; at most the share of one request.
   * @throws AppError 503
   */
  reserve(request: Request, bytes: number): Reservation | Promise<Reservation> {
    return this.budget.reserve(this.senderOf(request), Math.min(bytes, this.budget.maxPerBody));
  }

  /** Like use(), for a caller that calls release() itself, when it has done all work on the body. */
  async hold(request: Request, kind: BodyKind): Promise<LentBody> {
    const held = await this.read(request, kind);
    const turn = held === NO_BODY ? undefined : request.context?.starts?.turnFor(request);
    if (turn) await turn;
    return held;
  }

  private async read(request: Request, { limit, multiple }: BodyKind): Promise<LentBody> {
    assertNotEncoded(request);
    const length = announcedLength(request);
    if (length === 0) return NO_BODY;
    if (length !== null && length > limit) throw bodyTooLarge(limit);
    const memory = await this.budget.reserve(this.senderOf(request), multiple * (length ?? 0));
    const release = (): void => memory.release();
    try {
      const onUnannounced = inSteps((bytes) => memory.grow(multiple * bytes));
      return { bytes: await readBody(request, { limit, pace: this.pace, onUnannounced }), memory, release };
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** Doubles the reservation ahead of the body, which may arrive byte by byte. */
function inSteps(grow: (bytes: number) => void): (bytes: number) => void {
  let [came, counted] = [0, 0];
  return (bytes) => {
    came += bytes;
    if (came <= counted) return;
    const step = Math.max(came - counted, Math.min(counted, MAX_STEP), MIN_STEP);
    grow(step);
    counted += step;
  };
}

/** @throws AppError 400, 415 */
function parseJson(request: Request, body: Buffer): unknown {
  if (body.length === 0) return {};
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw mediaTypeNotJson();
  }
  if (hasTooManyValues(body)) throw bodyHasTooManyValues(MAX_VALUES);
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const fault = storageFault('The body', value);
    if (fault === null) return value;
    throw invalidParameters(fault);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw bodyNotJson(error);
  }
}
