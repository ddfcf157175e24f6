/** Sessions, locks and statements of a project's database, as types and as OpenAPI schemas. */
import * as f from '../../http/model/fields';
import { model } from '../../http/model/model';

const SECONDS = { type: Number, minimum: 0, nullable: true } as const;
const PID = { type: 'integer', minimum: 1 } as const;
const MS = { type: Number, minimum: 0 } as const;

class DatabaseSession extends model({
  pid: f.whole({ ...PID, description: 'The process id in PostgreSQL' }),
  role: f.nullable(f.text('The role that logged in')),
  application: f.text({ example: 'psql' }),
  address: f.nullable(
    f.text({
      description: 'Address of the client; null for a Unix socket',
    }),
  ),
  state: f.nullable(
    f.text({
      description: '`active`, `idle`, `idle in transaction` and so on',
    }),
  ),
  waits_for: f.nullable(
    f.text({
      description: 'What it waits for, such as `Lock: relation`',
    }),
  ),
  blocked_by: f.field<readonly number[]>({
    type: 'array',
    items: { type: 'integer' },
    description: 'Sessions of this database that block it',
    example: [],
  }),
  connected_seconds: f.number({ ...SECONDS, description: 'Since it connected' }),
  transaction_seconds: f.number({ ...SECONDS, description: 'Age of its transaction; null without one' }),
  query_seconds: f.number({ ...SECONDS, description: 'Since its last statement began' }),
  query: f.nullable(
    f.text({
      description: 'The first part of its last statement, including any values in the text',
    }),
  ),
}) {}

class DatabaseLock extends model({
  pid: f.whole({ ...PID, example: 4711 }),
  type: f.text({ example: 'relation' }),
  mode: f.text({ example: 'AccessExclusiveLock' }),
  granted: f.flag('False while the session waits for it'),
  schema: f.nullable(
    f.text({
      description: 'Schema of the locked relation; null if it is unknown',
    }),
  ),
  relation: f.nullable(f.text('Name of the locked relation')),
}) {}

export class DatabaseActivity extends model({
  sessions: f.list(DatabaseSession, 'At most 500; active and oldest first'),
  locks: f.list(DatabaseLock, 'At most 500; waiting ones first'),
  truncated: f.flag({ description: 'There were more sessions or locks', example: false }),
}) {}

export class SessionSignal extends model({
  pid: f.field<number>({ ...PID, example: 4711 }),
  done: f.flag('Whether PostgreSQL sent the signal; false if the session had ended'),
}) {}

class SlowQuery extends model({
  query: f.text({
    description: 'The statement with its values replaced by parameters; at most 4000 characters',
    example: 'select * from orders where id = $1',
  }),
  role: f.nullable(f.text('The role that ran it')),
  calls: f.size(),
  rows: f.size('Total rows returned or changed'),
  total_ms: f.number({ ...MS, description: 'Total milliseconds' }),
  mean_ms: f.number({ ...MS, description: 'Mean milliseconds per call' }),
  max_ms: f.number({ ...MS, description: 'Milliseconds of the slowest call' }),
  cache_percent: f.nullable(
    f.number({ ...MS, description: 'Percentage of blocks that were found in memory', example: 99.2 }),
  ),
}) {}

export class SlowQueries extends model({
  available: f.flag('False where the server has no pg_stat_statements'),
  reason: f.nullable(
    f.text({
      description: 'Why there are no statements',
      example: null,
    }),
  ),
  since: f.nullable(f.timeText('When the server began to count')),
  queries: f.list(SlowQuery),
}) {}

/** Rows as PostgreSQL returns them. */
export type SessionRow = DatabaseSession;
export type SlowQueryRow = SlowQuery;
export interface LockRow extends Omit<DatabaseLock, 'schema' | 'relation'> {
  readonly relation_id: string | null;
}
