/**
 * The changes of a project's database on the source, by PostgreSQL's logical replication: a publication of the
 * tables, a replication slot that begins at an exported snapshot, and the stream of what was committed after it. The
 * slot is temporary, so it ends with its session: the log is not kept for a move whose process has ended.
 */
import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import {
  CopyMessages,
  DATA_HEADER,
  isReportWanted,
  MessageTooLongError,
  ReplicationConnection,
  reportOf,
  STREAMED_DATA,
} from '../../replication/replication-connection';
import { startupOptions } from '../../database/pools/session-state';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import { HostListClient } from '../../pg-pipeline';
import { MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { changesStopped, rowTooLong, slotNotReady, tooMuchLog } from '../move.errors';
import type { Place } from '../move-places';
import { type MovedText, toMovedText } from './change-statement';
import type { LockedTable } from '../write-stop-sessions';
import { type LogicalMessage, parseLogicalMessage } from '../../replication/pgoutput';

/** Name of the publication and the slot, and `application_name` of their sessions. */
const PREFIX = 'plinth_move_';
const NAME = /^plinth_move_[0-9a-f]{16}$/;
const SNAPSHOT = /^[0-9A-F-]+$/i;
/** Milliseconds to wait. A slot waits for the end of every transaction of the server that is writing. */
const SLOT_MS = 60_000;
/** Milliseconds between two reports: PostgreSQL ends a connection that is silent for 60 seconds. */
const REPORT_MS = 10_000;
/** Milliseconds between two checks of the log that the source keeps. */
const WATCH_MS = 2_000;
/** Maximum bytes of one change, which is kept in memory. */
const MAX_CHANGE_BYTES = 64 * 1024 * 1024;
/** Maximum bytes of the write-ahead log that the source may keep for a small project; for a larger project, its size. */
const MIN_KEPT_LOG = 4 * 1024 ** 3;

/**
 * The role is a superuser, and the database has an untrusted owner: so none of its code is called. Names are
 * qualified, triggers and event triggers do not fire, and no setting of the owner applies.
 */
const SESSION = startupOptions({
  search_path: '',
  session_replication_role: 'replica',
  row_security: 'off',
  statement_timeout: '0',
  lock_timeout: '10s',
  idle_session_timeout: '0',
  synchronous_commit: 'local',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  bytea_output: 'hex',
  lc_monetary: 'C',
});

export class SourceChanges {
  private replication: ReplicationConnection | undefined;
  private messages: CopyMessages | undefined;
  private confirmed = 0n;
  private reporting: NodeJS.Timeout | undefined;
  private watching: NodeJS.Timeout | undefined;
  /** The source keeps too much of its log, or no longer keeps it. */
  private fault: Error | undefined;

  private constructor(
    private readonly source: Place,
    private readonly name: string,
    private readonly session: Client,
    private readonly maxKept: number,
  ) {}

  /**
   * Publishes the tables while `work` runs.
   * @param bytes the size of the project
   */
  static async during<T>(
    source: Place,
    tables: readonly LockedTable[],
    bytes: number,
    work: (changes: SourceChanges) => Promise<T>,
  ): Promise<T> {
    const name = `${PREFIX}${randomBytes(8).toString('hex')}`;
    const session = new HostListClient({ ...configOf(source), application_name: name });
    await session.connect();
    const changes = new SourceChanges(source, name, session, Math.max(bytes, MIN_KEPT_LOG));
    try {
      await changes.publish(tables);
      return await work(changes);
    } finally {
      await changes.close();
    }
  }

  get publication(): string {
    return this.name;
  }

  /**
   * Begins to keep the changes.
   * @param work with the name of the snapshot after which they begin; it is valid until `work` has used it
   * @throws AppError 409 when transactions of the server do not end in time
   */
  async begin<T>(work: (snapshot: string) => Promise<T>): Promise<T> {
    const replication = await ReplicationConnection.connect({
      ...configOf(this.source),
      application_name: this.name,
      keepAlive: true,
    });
    this.replication = replication;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      // The server's process is waiting, and would not notice the end of its connection.
      void this.endSessions().catch(() => undefined);
    }, SLOT_MS);
    const command = `CREATE_REPLICATION_SLOT ${this.name} TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT`;
    const [slot] = await replication
      .query<{ snapshot_name: string; consistent_point: string }>(command)
      .catch((error: unknown) => {
        throw isLate ? slotNotReady(SLOT_MS / 1_000, error) : error;
      })
      .finally(() => clearTimeout(timer));
    if (!slot || !SNAPSHOT.test(slot.snapshot_name)) throw new Error('PostgreSQL exported no snapshot');
    this.watching = setInterval(() => void this.watchLog(), WATCH_MS).unref();
    return work(slot.snapshot_name);
  }

  /** Begins to send the changes; call it after begin(). */
  stream(): void {
    const { replication, name } = this;
    if (!replication) throw new Error('the changes are not kept');
    this.messages = replication.copy(
      `START_REPLICATION SLOT ${name} LOGICAL 0/0 (proto_version '1', publication_names '${name}', messages 'true')`,
      MAX_CHANGE_BYTES,
    );
    this.reporting = setInterval(() => this.report(), REPORT_MS).unref();
  }

  /** Whether next() has to wait for the source. */
  get isEmpty(): boolean {
    return this.messages?.isEmpty ?? true;
  }

  /** @returns the next message and its size in bytes @throws AppError 409 when there are no more */
  async next(): Promise<{ readonly message: LogicalMessage<MovedText>; readonly bytes: number }> {
    for (;;) {
      const bytes = await this.messages?.next().catch((error: unknown) => {
        this.assertUsable();
        throw error instanceof MessageTooLongError ? rowTooLong(error.maxBytes) : changesStopped(error);
      });
      if (!bytes) throw changesStopped();
      if (isReportWanted(bytes)) this.report();
      if (bytes[0] === STREAMED_DATA)
        return {
          message: parseLogicalMessage(bytes.subarray(DATA_HEADER), toMovedText),
          bytes: bytes.length,
        };
    }
  }

  /** The target has all changes up to this position, so the source need not keep them. */
  confirm(position: bigint): void {
    this.confirmed = position;
  }

  /** Writes a message into the log, which arrives after everything that was committed before it. */
  async mark(content: string): Promise<void> {
    const mark = 'select pg_catalog.pg_logical_emit_message(true, $1, $2)';
    await this.session.query(mark, [this.name, content]);
  }

  /** @throws AppError 409 when the source keeps too much of its log for the move, or has given up the slot */
  assertUsable(): void {
    if (this.fault !== undefined) throw this.fault;
  }

  private async watchLog(): Promise<void> {
    await this.checkLog().catch((error: Error) => {
      this.fault ??= error;
      this.end();
    });
  }

  private async checkLog(): Promise<void> {
    const { rows } = await this.session.query<{ bytes: number | null }>(
      `select pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn)::pg_catalog.float8 as bytes
       from pg_catalog.pg_replication_slots where slot_name operator(pg_catalog.=) $1::pg_catalog.name`,
      [this.name],
    );
    const bytes = rows[0]?.bytes ?? null;
    if (bytes === null) throw changesStopped();
    if (bytes > this.maxKept) throw tooMuchLog(bytes);
  }

  /** Closes the replication connection, which ends the stream and drops its slot. The other session remains open for unpublish(). */
  end(): void {
    clearInterval(this.reporting);
    clearInterval(this.watching);
    this.replication?.close();
  }

  async unpublish(): Promise<void> {
    await this.session.query(`drop publication if exists ${quoteIdentifier(this.name)}`);
  }

  async sessionId(): Promise<number> {
    const { rows } = await this.session.query<{ pid: number }>('select pg_catalog.pg_backend_pid() as pid');
    return rows[0]?.pid ?? 0;
  }

  private async publish(tables: readonly LockedTable[]): Promise<void> {
    const list = tables.map(({ schema, name }) => `only ${quoteQualified(schema, name)}`).join(', ');
    await this.session.query(`create publication ${quoteIdentifier(this.name)} for table ${list}`);
  }

  private report(): void {
    this.replication?.send(reportOf(this.confirmed));
  }

  /** The project's database may have been dropped already, or closed: recovery removes what remains. */
  private async close(): Promise<void> {
    this.end();
    await this.unpublish().catch(() => undefined);
    await this.session.end().catch(() => undefined);
    await this.endSessions().catch(() => undefined);
  }

  private async endSessions(): Promise<void> {
    await this.source.server.asAdmin(MAINTENANCE_DATABASE, (client) =>
      client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
        this.name,
      ]),
    );
  }
}

/** Removes the remains of an interrupted move from the project's database. */
export async function removeChanges({ server, project }: Place): Promise<void> {
  const mayBeLeft = await server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = $1 and usename = current_user and application_name ~ $2`,
      [project.databaseName, NAME.source],
    );
    const { rowCount } = await client.query('select from pg_roles where rolname = current_user and rolsuper');
    return rowCount === 1;
  });
  if (!mayBeLeft) return;
  const session = new HostListClient({ ...configOf({ server, project }), application_name: 'plinth-move' });
  await session.connect();
  try {
    const { rows } = await session.query<{ name: string }>(
      `select pubname::pg_catalog.text as name from pg_catalog.pg_publication
       where pubname operator(pg_catalog.~) $1 and pg_catalog.pg_get_userbyid(pubowner) operator(pg_catalog.=) current_user`,
      [NAME.source],
    );
    for (const { name } of rows) await session.query(`drop publication if exists ${quoteIdentifier(name)}`);
  } finally {
    await session.end().catch(() => undefined);
  }
}

const configOf = ({ server, project }: Place): ReturnType<Place['server']['addressedConfig']> => ({
  ...server.addressedConfig(project.databaseName),
  options: SESSION,
  connectionTimeoutMillis: 15_000,
});
