/**
 * Repeats the changes of the source on the target. Its sessions have no rights but those of the project's owner, and
 * run with session_replication_role = replica, so that triggers, rules and foreign keys do not run a second time.
 */
import type { BoundedClient } from '../../database/pools/one-off-connection';
import { startupOptions } from '../../database/pools/session-state';
import { quoteIdentifier } from '../../database/sql/identifier';
import { PipelineConnection, type Statement } from '../../pg-pipeline';
import type { OwnerDatabase } from '../../projects/owner-database';
import { MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { NO_RESULTS } from '../../copies/load/project-loader';
import { changeNotFollowed, schemaChanged } from '../move.errors';
import type { Place } from '../move-places';
import { ChangedTable, type MovedText } from './change-statement';
import type { FollowedTable } from './followed-tables';
import type { LogicalMessage } from '../../replication/pgoutput';

/** Maximum number of statements per round trip, and of bytes in their values. */
const MAX_STATEMENTS = 500;
const MAX_BYTES = 4 * 1024 * 1024;

const SESSION = startupOptions({
  search_path: '',
  // Raises an error instead of giving an incomplete change where row-level security applies to the owner.
  row_security: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  xmloption: 'content',
  lc_monetary: 'C',
  // The copy is not used before it is complete, and the switch waits for the last commit.
  synchronous_commit: 'off',
});

interface Waiting {
  readonly statement: Statement;
  /** Number of rows that the statement must change; null for any number. */
  readonly rows: number | null;
  readonly table: FollowedTable;
}

export class ChangeReplay {
  private readonly tables = new Map<number, { facts: FollowedTable; changed: ChangedTable }>();
  private waiting: Waiting[] = [];
  private bytes = 0;
  /** True while a transaction of the source has not ended, or is not committed here. */
  private isOpen = false;
  private hasEnded = true;

  private constructor(
    private readonly connection: PipelineConnection,
    /** A second session of the same kind, for tables that are copied as a whole. */
    readonly client: BoundedClient,
    private readonly followed: ReadonlyMap<string, FollowedTable>,
  ) {}

  static async on<T>(
    { project, server }: Place,
    owner: OwnerDatabase,
    followed: readonly FollowedTable[],
    work: (replay: ChangeReplay) => Promise<T>,
  ): Promise<T> {
    const session = { options: SESSION, application_name: 'plinth-move', keepAlive: true };
    const connection = new PipelineConnection({
      ...owner.connectionOf(project),
      ...session,
      ssl: server.ssl,
    });
    const subject = `${quoteIdentifier(project.ownerRole)} in database ${quoteIdentifier(project.databaseName)}`;
    // Only a superuser may set session_replication_role: it is the role's default in this database until both sessions are open.
    const allow = (is: boolean): Promise<unknown> =>
      server.asAdmin(MAINTENANCE_DATABASE, (client) =>
        client.query(
          `alter role ${subject} ${is ? 'set session_replication_role to replica' : 'reset session_replication_role'}`,
        ),
      );
    try {
      await allow(true);
      await connection.connect();
      return await owner.use(
        project,
        'changes are repeated with the rights of the owner only',
        async (client) => {
          await allow(false);
          const [role] = await connection.pipeline([{ text: 'show session_replication_role' }]);
          if (Object.values(role?.rows[0] ?? {})[0] !== 'replica') throw new Error('triggers would fire');
          const tables = new Map(followed.map((table) => [`${table.schema}\0${table.name}`, table]));
          return work(new ChangeReplay(connection, client, tables));
        },
        { ...session, limits: NO_RESULTS },
      );
    } finally {
      await connection.close();
    }
  }

  /** Whether flush() is due. */
  get isFull(): boolean {
    return this.waiting.length >= MAX_STATEMENTS || this.bytes >= MAX_BYTES;
  }

  /** True when all added transactions of the source have ended, so that a flush() commits. */
  get isBetweenTransactions(): boolean {
    return this.hasEnded;
  }

  /**
   * @param bytes the size of the message
   * @throws AppError 409 for a change that cannot be repeated
   */
  add(message: LogicalMessage<MovedText>, bytes: number): void {
    switch (message.kind) {
      case 'relation': {
        const facts = this.followed.get(`${message.schema}\0${message.name}`);
        if (!facts) throw schemaChanged();
        this.tables.set(message.id, { facts, changed: new ChangedTable(facts, message.columns) });
        break;
      }
      case 'insert':
      case 'update':
      case 'delete': {
        const { facts, changed } = this.tableOf(message.relation);
        const statement = changed.statementFor(message);
        if (statement) this.push({ statement, rows: 1, table: facts }, bytes);
        break;
      }
      case 'truncate': {
        const tables = message.relations.map((id) => this.tableOf(id));
        const [first] = tables;
        if (!first) break;
        const list = tables.map(({ changed }) => changed.name).join(', ');
        // Tables with references to these were emptied on the source, too.
        this.push({ statement: { text: `truncate ${list} cascade` }, rows: null, table: first.facts }, bytes);
        break;
      }
      case 'commit':
        this.hasEnded = true;
        break;
      case 'message':
      case 'begin':
      case 'other':
        break;
    }
  }

  /** @throws AppError 409 when a row of the target differs from the old row on the source */
  async flush(): Promise<void> {
    const { waiting } = this;
    if (waiting.length === 0 && !(this.isOpen && this.hasEnded)) return;
    this.waiting = [];
    this.bytes = 0;
    const before: Statement[] = this.isOpen
      ? []
      : [{ text: 'begin' }, { text: 'set constraints all deferred' }];
    const after: Statement[] = this.hasEnded ? [{ text: 'commit' }] : [];
    this.isOpen = !this.hasEnded;
    const results = await this.connection.pipeline([
      ...before,
      ...waiting.map(({ statement }) => statement),
      ...after,
    ]);
    waiting.forEach(({ rows, table }, index) => {
      if (rows !== null && results[before.length + index]?.rowCount !== rows)
        throw changeNotFollowed(table.schema, table.name);
    });
  }

  private push(change: Waiting, bytes: number): void {
    this.hasEnded = false;
    this.waiting.push(change);
    this.bytes += bytes;
  }

  private tableOf(id: number): { facts: FollowedTable; changed: ChangedTable } {
    const table = this.tables.get(id);
    if (!table) throw schemaChanged();
    return table;
  }
}
