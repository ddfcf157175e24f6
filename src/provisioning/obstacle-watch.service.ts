/**
 * Ends sessions of projects that block a statement of the admin role. DROP DATABASE waits until every session
 * of the server has processed a barrier (wait event ProcSignalBarrier), which a session that is blocked on
 * its client does not; and ALTER ROLE waits for every transaction that holds a lock on the role. Both could
 * wait forever.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { Client } from 'pg';
import { EndReason, PROJECT_SESSIONS, ProjectSession, BackendTerminator } from './backend-terminator.service';
import { DatabaseServer, MAINTENANCE_DATABASE } from './database-server';

/** Milliseconds that the work may take before blocking sessions are looked up. */
const UNBLOCK_AFTER_MS = 1_000;
const POLL_INTERVAL_MS = 500;
/** Milliseconds without any progress after which a client counts as stalled. */
const STALLED_MS = 4_000;

const BLOCKERS = `select s.pid, s.datname as database
  from ${PROJECT_SESSIONS} s where s.pid = any (pg_blocking_pids($1))`;

/**
 * Sessions that wait for their clients in the middle of a statement, or of logging in. `mark` changes when a session
 * makes progress; for a COPY, as pg_dump uses it, it is the number of bytes.
 */
const WAITING_FOR_CLIENTS = `select s.pid, s.datname as database,
    concat_ws(' ', s.wait_event, s.backend_start, s.query_start, c.bytes_processed) as mark
  from ${PROJECT_SESSIONS} s left join pg_catalog.pg_stat_progress_copy c using (pid)
  where (s.state = 'active' or s.starting) and s.wait_event_type = 'Client'
    and exists (select from pg_catalog.pg_stat_activity where pid = $1 and wait_event = 'ProcSignalBarrier')
  order by s.query_start`;

type WaitingSession = ProjectSession & { readonly mark: string };

@Injectable()
export class ObstacleWatch {
  private readonly logger = new Logger(ObstacleWatch.name);
  private readonly stalledMs = STALLED_MS;

  constructor(private readonly terminator: BackendTerminator) {}

  /** Runs work of the admin role, and ends sessions that block it. Resolves or rejects as the work does. */
  async during<T>(server: DatabaseServer, client: Client, work: () => Promise<T>): Promise<T> {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const isOver = new AbortController();
    const watching = this.watch(server, rows[0]?.pid ?? 0, isOver.signal);
    try {
      return await work();
    } finally {
      isOver.abort();
      await watching;
    }
  }

  private async watch(server: DatabaseServer, pid: number, isOver: AbortSignal): Promise<void> {
    try {
      await sleep(UNBLOCK_AFTER_MS, undefined, { signal: isOver });
      await server.asAdmin(MAINTENANCE_DATABASE, async (admin) => {
        const stalled = new StalledClients(this.stalledMs);
        for (;;) {
          await this.look(admin, pid, stalled);
          await sleep(POLL_INTERVAL_MS, undefined, { signal: isOver });
        }
      });
    } catch (error) {
      if (!isOver.aborted)
        this.logger.warn(`sessions that block a deletion could not be ended: ${String(error)}`);
    }
  }

  private async look(admin: Client, pid: number, stalled: StalledClients): Promise<void> {
    const blockers = await admin.query<ProjectSession>(BLOCKERS, [pid]);
    for (const session of blockers.rows) await this.end(admin, session, 'lock');
    const waiting = await admin.query<WaitingSession>(WAITING_FOR_CLIENTS, [pid]);
    // Ends one session at a time: without it, the others may no longer block the work.
    const session = stalled.longest(waiting.rows);
    if (session) await this.end(admin, session, 'stalled_client');
  }

  /** Without SUPERUSER, Plinth may not end some sessions. */
  private async end(admin: Client, session: ProjectSession, reason: EndReason): Promise<void> {
    await this.terminator
      .end(admin, session, reason)
      .catch((error: unknown) =>
        this.logger.warn(`session ${session.pid} cannot be ended: ${String(error)}`),
      );
  }
}

/** Records the times since which sessions have made no progress. */
class StalledClients {
  private since = new Map<string, number>();

  constructor(private readonly limitMs: number) {}

  /** The session that has been stalled for longest, if that exceeds the limit. */
  longest(waiting: readonly WaitingSession[]): WaitingSession | undefined {
    const now = performance.now();
    const keyOf = ({ pid, mark }: WaitingSession): string => `${pid} ${mark}`;
    this.since = new Map(waiting.map((one) => [keyOf(one), this.since.get(keyOf(one)) ?? now]));
    const sinceOf = (one: WaitingSession): number => this.since.get(keyOf(one)) ?? now;
    const [first] = waiting.toSorted((a, b) => sinceOf(a) - sinceOf(b));
    return first && now - sinceOf(first) >= this.limitMs ? first : undefined;
  }
}
