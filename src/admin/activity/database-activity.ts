/** Sessions, locks and statements of a project's database, as types and as OpenAPI schemas. */
import * as f from '../../http/model/fields';

const SECONDS = { type: Number, minimum: 0, nullable: true } as const;
const PID = { type: 'integer', minimum: 1 } as const;
const MS = { type: Number, minimum: 0 } as const;

class DatabaseSession extends f.model({
  pid: f.whole('The process id in PostgreSQL', { ...PID }),
  role: f.nullable.text('The role that logged in'),
  application: f.text({ example: 'psql' }),
  address: f.nullable.text('Address of the client; null for a Unix socket'),
  state: f.nullable.text('`active`, `idle`, `idle in transaction` and so on'),
  waits_for: f.nullable.text('What it waits for, such as `Lock: relation`'),
  blocked_by: f.field<readonly number[]>({
    type: 'array',
    items: { type: 'integer' },
    description: 'Sessions of this database that block it',
    example: [],
  }),
  connected_seconds: f.number('Since it connected', { ...SECONDS }),
  transaction_seconds: f.number('Age of its transaction; null without one', { ...SECONDS }),
  query_seconds: f.number('Since its last statement began', { ...SECONDS }),
  query: f.nullable.text('The first part of its last statement, including any values in the text'),
}) {}

class DatabaseLock extends f.model({
  pid: f.whole({ ...PID, example: 4711 }),
  type: f.text({ example: 'relation' }),
  mode: f.text({ example: 'AccessExclusiveLock' }),
  granted: f.flag('False while the session waits for it'),
  schema: f.nullable.text('Schema of the locked relation; null if it is unknown'),
  relation: f.nullable.text('Name of the locked relation'),
}) {}

export class DatabaseActivity extends f.model({
  sessions: f.list(DatabaseSession, 'At most 500; active and oldest first'),
  locks: f.list(DatabaseLock, 'At most 500; waiting locks first'),
  truncated: f.flag('There were more sessions or locks', { example: false }),
}) {}

export class SessionSignal extends f.model({
  pid: f.field<number>({ ...PID, example: 4711 }),
  done: f.flag('Whether PostgreSQL sent the signal; false if the session had ended'),
}) {}

class SlowQuery extends f.model({
  query: f.text('The statement with its values replaced by parameters; at most 4000 characters', {
    example: 'select * from orders where id = $1',
  }),
  role: f.nullable.text('The role that ran it'),
  calls: f.size(),
  rows: f.size('Total rows returned or changed'),
  total_ms: f.number('Total milliseconds', { ...MS }),
  mean_ms: f.number('Mean milliseconds per call', { ...MS }),
  max_ms: f.number('Milliseconds of the slowest call', { ...MS }),
  cache_percent: f.nullable.number('Percentage of blocks that were found in memory', {
    ...MS,
    example: 99.2,
  }),
}) {}

export class SlowQueries extends f.model({
  available: f.flag('False where the server has no pg_stat_statements'),
  reason: f.nullable.text('Why there are no statements', { example: null }),
  since: f.nullable.timeText('When the server began to count'),
  queries: f.list(SlowQuery),
}) {}

/** Rows as PostgreSQL returns them. */
export type SessionRow = DatabaseSession;
export type SlowQueryRow = SlowQuery;
export interface LockRow extends Omit<DatabaseLock, 'schema' | 'relation'> {
  readonly relation_id: string | null;
}
