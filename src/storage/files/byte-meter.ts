/** Measures a file's bytes while they stream to the provider: size, hash, evidence of the type. Enforces the size limit. */
import { createHash } from 'node:crypto';
import { AppError } from '../../common/errors/app-error';
import { Evidence, sniff, SNIFF_BYTES } from '../content-type/sniff';
import { ByteLimit } from '../quotas/quota';
import { invalidParameters } from '../storage.errors';

export interface ByteFacts {
  readonly size: number;
  readonly sha256: string;
  readonly evidence: Evidence;
}

/** Measures bytes that arrive in several requests. */
export class RunningFacts {
  private readonly hash = createHash('sha256');
  private head = Buffer.alloc(0);
  size = 0;

  update(chunk: Buffer): void {
    this.hash.update(chunk);
    if (this.size < SNIFF_BYTES)
      this.head = Buffer.concat([this.head, chunk.subarray(0, SNIFF_BYTES - this.size)]);
    this.size += chunk.length;
  }

  end(): ByteFacts {
    return { size: this.size, sha256: this.hash.digest('hex'), evidence: sniff(this.head) };
  }
}

export class ByteMeter {
  private readonly hash = createHash('sha256');
  private size = 0;
  private evidence: Evidence = { kind: 'none' };

  /**
   * @param limit maximum bytes of the file
   * @param onEvidence called once, before the first chunk is passed on; may throw to refuse the file
   */
  constructor(
    private readonly limit: ByteLimit,
    private readonly onEvidence: (evidence: Evidence) => void,
  ) {}

  /**
   * @returns the same bytes
   * @throws AppError 413 at the first byte above the limit, 400 if the bytes end early, and errors of onEvidence
   */
  async *measure(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const head: Buffer[] = [];
    let isSniffed = false;
    try {
      for await (const chunk of source) {
        this.size += chunk.length;
        if (this.size > this.limit.bytes) throw this.limit.exceeded();
        this.hash.update(chunk);
        if (isSniffed) {
          yield chunk;
          continue;
        }
        head.push(chunk);
        if (this.size < SNIFF_BYTES) continue;
        isSniffed = true;
        yield* this.sniffed(head);
      }
    } catch (error) {
      // Only the sender can end the source early.
      throw error instanceof AppError ? error : invalidParameters('The upload was interrupted', error);
    }
    if (!isSniffed) yield* this.sniffed(head);
  }

  facts(): ByteFacts {
    return { size: this.size, sha256: this.hash.digest('hex'), evidence: this.evidence };
  }

  private *sniffed(head: Buffer[]): Generator<Buffer> {
    const [first] = head;
    const bytes = first && head.length === 1 ? first : Buffer.concat(head);
    this.evidence = sniff(bytes.subarray(0, SNIFF_BYTES));
    this.onEvidence(this.evidence);
    yield* head;
  }
}
