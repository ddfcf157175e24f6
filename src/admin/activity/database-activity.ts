/** Sessions, locks and statements of a project's database, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../http/docs/example.decorator';
import { SIZE } from '../../http/docs/documented-types';

const TEXT_OR_NULL = { type: String, nullable: true } as const;
const SECONDS = { type: Number, minimum: 0, nullable: true } as const;
const PID = { type: 'integer', minimum: 1 } as const;
const MS = { type: Number, minimum: 0 } as const;

class DatabaseSession {
  @ApiProperty({ ...PID, description: 'The process id in PostgreSQL' }) readonly pid!: number;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'The role that logged in' }) readonly role!: string | null;
  @ApiProperty() readonly application!: string;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'Address of the client; null for a Unix socket' })
  readonly address!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: '`active`, `idle`, `idle in transaction` and so on' })
  readonly state!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'What it waits for, such as `Lock: relation`' })
  readonly waits_for!: string | null;
  @ApiProperty({
    type: 'array',
    items: { type: 'integer' },
    description: 'Sessions of this database that block it',
  })
  readonly blocked_by!: readonly number[];
  @ApiProperty({ ...SECONDS, description: 'Since it connected' }) readonly connected_seconds!: number | null;
  @ApiProperty({ ...SECONDS, description: 'Age of its transaction; null without one' })
  readonly transaction_seconds!: number | null;
  @ApiProperty({ ...SECONDS, description: 'Since its last statement began' })
  readonly query_seconds!: number | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    description: 'The first part of its last statement, including any values in the text',
  })
  readonly query!: string | null;
}

class DatabaseLock {
  @ApiProperty(PID) readonly pid!: number;
  @ApiProperty({ example: 'relation' }) readonly type!: string;
  @ApiProperty({ example: 'AccessExclusiveLock' }) readonly mode!: string;
  @ApiProperty({ description: 'False while the session waits for it' }) readonly granted!: boolean;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'Schema of the locked relation; null if it is unknown' })
  readonly schema!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'Name of the locked relation' }) readonly relation!:
    | string
    | null;
}

@Example({
  sessions: [
    {
      pid: 4711,
      role: 'plinth_k3v9x0a1b2c3d4e5f6g7_login',
      application: 'plinth',
      address: null,
      state: 'active',
      waits_for: 'Lock: relation',
      blocked_by: [4712],
      connected_seconds: 60.5,
      transaction_seconds: 2.5,
      query_seconds: 2.5,
      query: 'select * from "public"."notes"',
    },
  ],
  locks: [
    {
      pid: 4712,
      type: 'relation',
      mode: 'AccessExclusiveLock',
      granted: true,
      schema: 'public',
      relation: 'notes',
    },
  ],
  truncated: false,
})
export class DatabaseActivity {
  @ApiProperty({ type: [DatabaseSession], description: 'At most 500; active and oldest first' })
  readonly sessions!: readonly DatabaseSession[];
  @ApiProperty({ type: [DatabaseLock], description: 'At most 500; waiting ones first' })
  readonly locks!: readonly DatabaseLock[];
  @ApiProperty({ description: 'There were more sessions or locks' }) readonly truncated!: boolean;
}

@Example({ pid: 4711, done: true })
export class SessionSignal {
  @ApiProperty(PID) readonly pid!: number;
  @ApiProperty({ description: 'PostgreSQL has sent the signal; false if the session ended meanwhile' })
  readonly done!: boolean;
}

class SlowQuery {
  @ApiProperty({
    description: 'The statement with its values replaced by parameters; at most 4000 characters',
  })
  readonly query!: string;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'The role that ran it' }) readonly role!: string | null;
  @ApiProperty(SIZE) readonly calls!: number;
  @ApiProperty({ ...SIZE, description: 'Total rows returned or changed' }) readonly rows!: number;
  @ApiProperty({ ...MS, description: 'Total milliseconds' }) readonly total_ms!: number;
  @ApiProperty({ ...MS, description: 'Mean milliseconds per call' }) readonly mean_ms!: number;
  @ApiProperty({ ...MS, description: 'Milliseconds of the slowest call' }) readonly max_ms!: number;
  @ApiProperty({ ...MS, nullable: true, description: 'Percentage of blocks that were found in memory' })
  readonly cache_percent!: number | null;
}

@Example({
  available: true,
  reason: null,
  since: '2026-01-01T08:00:00.000Z',
  queries: [
    {
      query: 'select * from notes where owner = $1',
      role: 'plinth_k3v9x0a1b2c3d4e5f6g7_login',
      calls: 1200,
      rows: 24_000,
      total_ms: 5400.5,
      mean_ms: 4.5,
      max_ms: 92.1,
      cache_percent: 99.2,
    },
  ],
})
export class SlowQueries {
  @ApiProperty({ description: 'False where the server has no pg_stat_statements' })
  readonly available!: boolean;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'Why there are no statements' }) readonly reason!:
    | string
    | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the server began to count',
  })
  readonly since!: string | null;
  @ApiProperty({ type: [SlowQuery] }) readonly queries!: readonly SlowQuery[];
}

/** Rows as PostgreSQL returns them. */
export type SessionRow = DatabaseSession;
export type SlowQueryRow = SlowQuery;
export interface LockRow extends Omit<DatabaseLock, 'schema' | 'relation'> {
  readonly relation_id: string | null;
}
