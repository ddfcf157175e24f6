/** Follows the changes of the source on the target until both are equal. */
import { randomBytes } from 'node:crypto';
import { ProjectLoader } from '../../copies/load/project-loader';
import type { BoundedClient } from '../../database/pools/one-off-connection';
import { quoteQualified } from '../../database/sql/identifier';
import type { CopyProgress } from '../database-copy';
import { cannotCatchUp, copyDiffers, viewsTooSlow } from '../move.errors';
import type { SourceSnapshot } from '../source-snapshot';
import type { LockedTable } from '../write-stop-sessions';
import type { ChangeReplay } from './change-replay';
import type { SourceChanges } from './source-changes';

/** Milliseconds that the target may lag when the stop of writes begins. */
const NEAR_MS = 1_000;
/** Rounds that may take as long as the previous round before the move is given up. */
const MAX_STALLS = 5;
/** Milliseconds for the materialized views, which are refreshed again while writes are refused. */
const MAX_VIEWS_MS = 2_000;

export interface CatchUpTarget {
  /** The owner's connection. */
  readonly client: BoundedClient;
  /** As in server_version_num. */
  readonly serverVersion: number;
  readonly views: readonly LockedTable[];
  /** Tables whose changes are followed, as `schema\0name`; the others are copied at the stop. */
  readonly followed: ReadonlySet<string>;
}

export class CatchUp {
  /** Callbacks by the content of the mark that they wait for. */
  private readonly marks = new Map<string, () => void>();
  private readonly following: Promise<never>;
  /** Whether the target has ever been less than a second behind. */
  private isNear = false;

  /** Begins to follow; call begin() of the changes first. */
  constructor(
    private readonly changes: SourceChanges,
    private readonly replay: ChangeReplay,
    private readonly target: CatchUpTarget,
    private readonly progress: CopyProgress,
  ) {
    changes.stream();
    this.following = this.follow();
    // The failure is thrown by the next reach().
    this.following.catch(() => undefined);
  }

  /**
   * Resolves when the target is less than a second behind.
   * @throws AppError 409 when writes come faster than they can be repeated
   */
  async converge(): Promise<void> {
    if (!this.isNear) await this.assertViewsAreQuick();
    for (let last = Infinity, stalls = 0; ;) {
      this.progress.step('catching up');
      const begun = performance.now();
      await this.reach();
      const took = performance.now() - begun;
      if (took < NEAR_MS) return void (this.isNear = true);
      stalls += took < last ? 0 : 1;
      if (stalls === MAX_STALLS) throw cannotCatchUp();
      last = took;
    }
  }

  /** Makes the target equal to the source, which refuses writes, and ends the stream of changes. */
  async finish(snapshot: SourceSnapshot): Promise<void> {
    await this.reach();
    this.changes.end();
    const loader = await ProjectLoader.begin(this.replay.client, [], this.target.serverVersion, new Map());
    for (const table of await snapshot.rows.tables()) {
      const { schema, name } = table;
      if (this.target.followed.has(`${schema}\0${name}`)) continue;
      await this.replay.client.query(`delete from only ${quoteQualified(schema, name)}`);
      const content = snapshot.rows.rowsOf(table);
      if ((await loader.copy(table, content.chunks)) !== content.rows())
        throw copyDiffers(`${schema}.${name}`);
    }
    await this.refreshViews();
  }

  /** Resolves when the target has all that was committed on the source before the call. */
  private async reach(): Promise<void> {
    const content = randomBytes(16).toString('hex');
    const reached = new Promise<void>((resolve) => this.marks.set(content, resolve));
    await this.changes.mark(content);
    await Promise.race([reached, this.following]);
    this.marks.delete(content);
  }

  private async follow(): Promise<never> {
    let arrived: string[] = [];
    for (let end = 0n; ;) {
      const { message, bytes } = await this.changes.next();
      this.progress.passed(0);
      if (message.kind === 'commit') end = message.end;
      // Any role can send such messages, so the content is random.
      if (message.kind === 'message' && this.marks.has(message.content)) arrived.push(message.content);
      this.replay.add(message, bytes);
      const isWhole = this.replay.isBetweenTransactions;
      const isDue = this.replay.isFull || (isWhole && (arrived.length > 0 || this.changes.isEmpty));
      if (!isDue) continue;
      await this.replay.flush();
      if (!isWhole) continue;
      this.changes.confirm(end);
      for (const content of arrived) this.marks.get(content)?.();
      arrived = [];
    }
  }

  private async assertViewsAreQuick(): Promise<void> {
    const begun = performance.now();
    await this.refreshViews();
    if (performance.now() - begun > MAX_VIEWS_MS) throw viewsTooSlow(MAX_VIEWS_MS / 1_000);
  }

  private async refreshViews(): Promise<void> {
    for (const { schema, name } of this.target.views)
      await this.target.client.query(`refresh materialized view ${quoteQualified(schema, name)}`);
  }
}
