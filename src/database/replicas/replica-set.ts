/**
 * The read replicas of one server, and the choice among them for a read. A replica that is more than MAX_LAG_MS behind is not
 * used. The replica itself checks the minimum position again in the statement that sets the caller's context.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostAddress, HostListConfig } from '../../pg-pipeline';
import { formatPosition } from './log-position';
import { PositionFollower } from './position-follower';

/** Milliseconds. A replica shows at least the transactions that the primary had committed this long ago. */
const MAX_LAG_MS = 1_000;
/**
 * Milliseconds for which a sample of the primary's position is used for later reads. No process reads a state of the primary
 * that is older than both times together.
 */
const SAMPLE_MS = 1_000;
/** Milliseconds that a revocation waits for a replica, before the other processes are notified not to use it. */
const WAIT_TIMEOUT_MS = 100;
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

/** The requirements of a read for a replica. */
export interface ReadNeeds {
  /** Position of a write that must be visible; null: none. */
  readonly after: bigint | null;
  /** The session of the caller is checked on the replica. */
  readonly checksSession: boolean;
}

export interface ReplicaSetEvents {
  /** Called when a replica has stopped answering. */
  onDown(address: HostAddress): void;
  /**
   * Calls refuseBefore(position) in every process.
   * @returns false if a process did not answer
   */
  broadcast(position: bigint): Promise<boolean>;
  onRevoked(outcome: RevocationOutcome): void;
  /** Monotonic time in milliseconds since which this process receives broadcasts of others; null if it does not. */
  hearsSince(): number | null;
}

/** How a revocation took effect: every replica has it, every process knows of it, or the time limit was reached. */
export type RevocationOutcome = 'replayed' | 'notified' | 'waited';

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
  /** Position of the last revocation that replicas may lack. */
  private revoked: Sample = { at: -Infinity, position: 0n };
  /** The current or last broadcast, and the next one. */
  private broadcasting: Promise<boolean> | null = null;
  private nextBroadcast: Promise<boolean> | null = null;

  constructor(
    { primary, replicas }: ReplicaSetConfig,
    private readonly events: ReplicaSetEvents,
  ) {
    this.primary = new PositionFollower({ config: primary, query: PRIMARY_POSITION }, (at, position) =>
      this.onPrimary(at, position),
    );
    this.replicas = replicas.map((address) => {
      let wasUp = false;
      const server = { config: { ...primary, ...address, hosts: [] }, query: REPLICA_POSITION };
      const follower = new PositionFollower(server, (_at, position) => {
        if (wasUp && position === null) events.onDown(address);
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
   * each replica has replayed it, or every process knows of it, at most for two seconds.
   */
  async caughtUp(position: bigint): Promise<void> {
    this.use();
    this.events.onRevoked(await this.waitFor(position));
  }

  private async waitFor(position: bigint): Promise<RevocationOutcome> {
    const begun = performance.now();
    const isReplayed = this.allReach(position, begun + MAX_LAG_MS + SAMPLE_MS);
    const isTimedOut = sleep(WAIT_TIMEOUT_MS, undefined, { ref: false }).then(() => null);
    const early = await Promise.race([isReplayed, isTimedOut]);
    if (early === true) return 'replayed';
    this.refuseBefore(position);
    const isOver = isReplayed.then((is): RevocationOutcome => (is ? 'replayed' : 'waited'));
    const isNotified = this.broadcastRevoked().then((is): Promise<RevocationOutcome> | RevocationOutcome =>
      is ? 'notified' : isOver,
    );
    return Promise.race([isOver, isNotified]);
  }

  /** Reads that check a session need a replica that has replayed this position. */
  refuseBefore(position: bigint): void {
    const { position: known } = this.lastRevoked();
    this.revoked = { at: performance.now(), position: position > known ? position : known };
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    this.samples = [];
    await Promise.all(this.followers().map((follower) => follower.stop()));
  }

  /** The least position that a replica must have replayed; null: not known, or not known precisely enough. */
  private floor(checksSession: boolean): bigint | null {
    const until = performance.now() - MAX_LAG_MS;
    const sample = this.samples.findLast(({ at }) => at <= until);
    if (!sample) return null;
    // While the primary does not answer, replicas cannot know of revocations.
    if (!checksSession) return sample.position;
    if (sample.at < until - SAMPLE_MS) return null;
    // Earlier revocations are before the sample's position; later revocations are broadcast to this process if it listens.
    const hearsSince = this.events.hearsSince();
    if (hearsSince === null || hearsSince > sample.at) return null;
    const { position } = this.lastRevoked();
    return position > sample.position ? position : sample.position;
  }

  /** Later samples replace it. The positions of another primary may be lower, so an old position must not stay. */
  private lastRevoked(): Sample {
    const isOver = performance.now() - this.revoked.at > MAX_LAG_MS + SAMPLE_MS;
    return isOver ? { at: -Infinity, position: 0n } : this.revoked;
  }

  private async allReach(position: bigint, deadline: number): Promise<boolean> {
    const reached = this.replicas.map(({ follower }) => follower.reaches(position, deadline));
    return (await Promise.all(reached)).every((is) => is);
  }

  /** Broadcasts `revoked` to all processes. Calls during a broadcast share the next one. */
  private broadcastRevoked(): Promise<boolean> {
    this.nextBroadcast ??= (this.broadcasting ?? Promise.resolve(true)).then(() => {
      this.nextBroadcast = null;
      this.broadcasting = this.events.broadcast(this.revoked.position).catch(() => false);
      return this.broadcasting;
    });
    return this.nextBroadcast;
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
