/** Secrets that are encrypted under MASTER_KEY, and the keys that are in use. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { SecretKind } from '../install/secrets.service';

/** A column that contains secrets. */
interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Two columns that identify a row; if one suffices, it is listed twice. */
  readonly keys: readonly [string, string];
  /** The purpose that SecretBox authenticates. @param key the row's value of the first column in `keys` */
  readonly purposeOf: (key: string) => string;
}

interface SealedRow {
  readonly first: string;
  readonly second: string;
  readonly sealed: Buffer;
}

type Query = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;
export type Reseal = (sealed: Buffer, purpose: string) => Buffer | null;

const PAGE = 500;
/** Longer values are not Plinth's: the owner of a project can write to its tables. */
const MAX_SEALED = 65_536;
const FACT = 'master-key:';

const ofProject = (column: string, kind: SecretKind): SealedColumn => ({
  table: 'projects',
  column,
  keys: ['id', 'id'],
  purposeOf: (id) => `${kind}:${id}`,
});

const PLATFORM_COLUMNS: readonly SealedColumn[] = [
  ofProject('owner_password', 'owner-password'),
  ofProject('login_password', 'login-password'),
  ofProject('server_url', 'server-url'),
  ofProject('data_secret', 'data-secret'),
  ofProject('signing_keys', 'signing-keys'),
  ofProject('s3_keys', 's3-keys'),
  ofProject('api_keys', 'api-keys'),
  { ...ofProject('secret', 'jwt-secret'), table: 'project_secrets', keys: ['project_id', 'kid'] },
  { ...ofProject('storage_secret', 'storage-secret'), table: 'project_secrets', keys: ['project_id', 'kid'] },
  { ...ofProject('source_url', 'server-url'), table: 'project_moves', keys: ['project_id', 'project_id'] },
  {
    table: 'database_servers',
    column: 'url',
    keys: ['name', 'name'],
    purposeOf: (name) => `server-url:server:${name}`,
  },
  {
    table: 'staff_people',
    column: 'totp_secret',
    keys: ['id', 'id'],
    purposeOf: (id) => `staff-totp:${id}`,
  },
];

/** Mails that wait to be sent, and second factors that the first versions stored. */
const projectColumns = (projectId: string): SealedColumn[] => [
  {
    table: 'auth.outgoing_mails',
    column: 'sealed',
    keys: ['id', 'id'],
    purposeOf: (id) => `mail:${projectId}:${id}`,
  },
  {
    table: 'auth.factors',
    column: 'sealed_secret',
    keys: ['id', 'id'],
    purposeOf: (id) => `totp:${projectId}:${id}`,
  },
];

@Injectable()
export class MasterKeyRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Identifiers of the keys that secrets may be encrypted under. */
  async listKeys(): Promise<string[]> {
    const rows = await this.dataSource.query<{ name: string }[]>(
      'select name from platform_facts where starts_with(name, $1)',
      [FACT],
    );
    return rows.map(({ name }) => name.slice(FACT.length));
  }

  async addKeys(keys: readonly string[]): Promise<void> {
    await this.dataSource.query(
      'insert into platform_facts (name) select unnest($1::text[]) on conflict do nothing',
      [keys.map((key) => FACT + key)],
    );
  }

  async removeOtherKeys(key: string): Promise<void> {
    await this.dataSource.query('delete from platform_facts where starts_with(name, $1) and name <> $2', [
      FACT,
      FACT + key,
    ]);
  }

  /** Gives projects of the first versions, whose data secret was derived from MASTER_KEY, an encrypted one. */
  async addDataSecrets(secretOf: (projectId: string, ownerPassword: Buffer) => Buffer): Promise<void> {
    for (;;) {
      const rows = await this.dataSource.query<{ id: string; owner_password: Buffer }[]>(
        'select id, owner_password from projects where data_secret is null limit $1',
        [PAGE],
      );
      if (rows.length === 0) return;
      await this.dataSource.query(
        `update projects p set data_secret = v.secret from unnest($1::text[], $2::bytea[]) v (id, secret)
         where p.id = v.id and p.data_secret is null`,
        [rows.map(({ id }) => id), rows.map((row) => secretOf(row.id, row.owner_password))],
      );
    }
  }

  /** @param isDry only counts @returns the number of secrets in the platform database for which `reseal` gave a new form */
  async resealPlatform(reseal: Reseal, isDry: boolean): Promise<number> {
    const query: Query = (text, values) => this.dataSource.query(text, [...values]);
    return resealAll(query, PLATFORM_COLUMNS, reseal, isDry);
  }

  /** Reseals the secrets in a project's database. @param query runs statements as the owner @returns the number of resealed secrets */
  async resealProject(projectId: string, query: Query, reseal: Reseal): Promise<number> {
    return resealAll(query, projectColumns(projectId), reseal, false);
  }
}

async function resealAll(
  query: Query,
  columns: readonly SealedColumn[],
  reseal: Reseal,
  isDry: boolean,
): Promise<number> {
  let count = 0;
  for (const { table, column, keys, purposeOf } of columns) {
    const [first, second] = keys.map((key) => `t.${key}::text collate "C"`);
    for (let after = ['', '']; ;) {
      const rows = (await query(
        `select ${first} as first, ${second} as second, t.${column} as sealed from ${table} t
         where t.${column} is not null and length(t.${column}) <= ${MAX_SEALED} and (${first}, ${second}) > ($1, $2)
         order by 1, 2 limit ${PAGE}`,
        after,
      )) as SealedRow[];
      const changed = rows.flatMap((row) => {
        const fresh = reseal(row.sealed, purposeOf(row.first));
        return fresh ? [{ ...row, fresh }] : [];
      });
      count += changed.length;
      // A secret that was changed in the meantime is left unchanged: the next pass reads it again.
      if (changed.length > 0 && !isDry)
        await query(
          `update ${table} t set ${column} = v.fresh
           from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) v (first, second, sealed, fresh)
           where ${first} = v.first and ${second} = v.second and t.${column} = v.sealed`,
          [
            changed.map((row) => row.first),
            changed.map((row) => row.second),
            changed.map((row) => row.sealed),
            changed.map((row) => row.fresh),
          ],
        );
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) break;
      after = [last.first, last.second];
    }
  }
  return count;
}
