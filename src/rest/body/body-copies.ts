/** The memory of a body that several statements of one request send: each statement after the first sends it once more. */
import type { HeldBody } from '../../http/bodies/body-budget';

export class BodyCopies {
  private counted = 1;

  /** @param held null for a request without a body */
  constructor(private readonly held: HeldBody | null) {}

  /** Counts so many copies, if they are more than before. @throws AppError 413 or 503 */
  reserve(copies: number): void {
    if (this.held === null || copies <= this.counted) return;
    this.held.memory.grow((copies - this.counted) * this.held.bytes.length);
    this.counted = copies;
  }
}
