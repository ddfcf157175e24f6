/** Bounds the rows that a backup reads from the catalogs of a project's database, whose owner controls their number. */
import { resultTooLarge } from '../../database/pools/pool.errors';
import type { MessageLimits } from '../../pg-pipeline';

/** Bytes of the result of one query. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

export class SnapshotLimits implements MessageLimits {
  private bytes = 0;

  /** @param onExcess must end the connection */
  constructor(private readonly onExcess: (error: Error) => void) {}

  /** Called before each query. */
  begin(): void {
    this.bytes = 0;
  }

  admitsRow(bytes: number): boolean {
    this.bytes += bytes;
    if (this.bytes <= MAX_RESULT_BYTES) return true;
    this.onExcess(resultTooLarge(MAX_RESULT_BYTES));
    return false;
  }

  admitsNotice(): boolean {
    return false;
  }
}
