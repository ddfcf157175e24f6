/**
 * The read replicas of one server, and which of them a read may use. A replica that is more than MAX_LAG_MS behind is not used.
 * The replica itself checks the minimum again in the statement that sets the caller's context.
 */
import type { HostAddress, HostListConfig } from '../../pg-pipeline';
import { formatPosition } from './log-position';
import { PositionFollower } from './position-follower';

/** Milliseconds. A replica shows at least what the primary had committed this long ago. */
const MAX_LAG_MS = 1_000;
/**
 * Milliseconds for which a sample of the primary's position stands for later ones. After the sum of both, no process reads what
 * the primary had not committed before.
 */
const SAMPLE_MS = 1_000;
/** Milliseconds without use after which the positions are not followed any more. */
const IDLE_MS = 60_000;

/** With `flush`, because the position of the last insertion lies behind a page header that no replica has replayed. */
const PRIMARY_POSITION = 'select pg_catalog.pg_current_wal_flush_lsn()::text as position';
const REPLICA_POSITION = `select case when pg_catalog.pg_is_in_recovery()
  then pg_catalog.pg_last_wal_replay_lsn()::text end as position`;

export interface ReplicaSetConfig {
  /** How to reach the primary, as a role that may connect to any database. */
  readonly primary: HostListConfig;
  readonly replicas: readonly HostAddress[];
}

/** What a read needs of a replica. */
export interface ReadNeeds {
  /** Position of a write that must be visible; null: none. */
  readonly after: bigint | null;
  /** The session of the caller is checked on the replica. */
  readonly checksSession: boolean;
}

interface ChosenReplica {
  readonly address: HostAddress;
  /** Position that the replica must have replayed, in PostgreSQL's form. */
  readonly minimum: string;
}

interface Replica {
  readonly address: HostAddress;
  readonly follower: PositionFollower;
}

interface Sample {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  readonly position: bigint;
}

export class ReplicaSet {
  /** Positions of the primary, oldest first; at most the first is older than MAX_LAG_MS. */
  private samples: Sample[] = [];
  private readonly primary: PositionFollower;
  private readonly replicas: readonly Replica[];
  private isRunning = false;
  private usedAt = 0;
  private turn = 0;

  /** @param onDown called when a replica stops to answer */
  constructor({ primary, replicas }: ReplicaSetConfig, onDown: (address: HostAddress) => void) {
    this.primary = new PositionFollower({ config: primary, query: PRIMARY_POSITION }, (at, position) =>
      this.onPrimary(at, position),
    );
    this.replicas = replicas.map((address) => {
      let wasUp = false;
      const server = { config: { ...primary, ...address, hosts: [] }, query: REPLICA_POSITION };
      const follower = new PositionFollower(server, (_at, position) => {
        if (wasUp && position === null) onDown(address);
        wasUp = position !== null;
      });
      return { address, follower };
    });
  }

  /** A replica that has replayed all that the read needs, in turn; null: the primary must be read. */
  choose({ after, checksSession }: ReadNeeds): ChosenReplica | null {
    this.use();
    const floor = this.floor(checksSession);
    if (floor === null) return null;
    const minimum = after !== null && after > floor ? after : floor;
    const isUsable = ({ follower }: Replica): boolean =>
      follower.position !== null && follower.position >= minimum;
    const usable = this.replicas.filter(isUsable);
    const chosen = usable[(this.turn += 1) % usable.length];
    return chosen ? { address: chosen.address, minimum: formatPosition(minimum) } : null;
  }

  /**
   * Waits until no process reads the state from before `position` on a replica that it chooses with `checksSession`: until
   * each replica has replayed it, at most for two seconds.
   */
  async caughtUp(position: bigint): Promise<void> {
    this.use();
    const deadline = performance.now() + MAX_LAG_MS + SAMPLE_MS;
    await Promise.all(this.replicas.map(({ follower }) => follower.reaches(position, deadline)));
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    this.samples = [];
    await Promise.all(this.followers().map((follower) => follower.stop()));
  }

  /** The least position that a replica must have replayed; null: not known, or known too badly. */
  private floor(checksSession: boolean): bigint | null {
    const until = performance.now() - MAX_LAG_MS;
    const sample = this.samples.findLast(({ at }) => at <= until);
    if (!sample) return null;
    // While the primary does not answer, replicas cannot know of revocations.
    if (checksSession && sample.at < until - SAMPLE_MS) return null;
    return sample.position;
  }

  private onPrimary(at: number, position: bigint | null): void {
    if (performance.now() - this.usedAt > IDLE_MS) return void this.stop();
    if (position === null) return;
    this.samples.push({ at, position });
    const until = performance.now() - MAX_LAG_MS;
    const newestOld = this.samples.findLastIndex((sample) => sample.at <= until);
    if (newestOld > 0) this.samples.splice(0, newestOld);
  }

  private use(): void {
    this.usedAt = performance.now();
    if (this.isRunning) return;
    this.isRunning = true;
    for (const follower of this.followers()) follower.start();
  }

  private followers(): PositionFollower[] {
    return [this.primary, ...this.replicas.map(({ follower }) => follower)];
  }
}
