/** Reads a database that is laid out as Supabase's, in one read-only snapshot. */
import { Client } from 'pg';
import { DUMP_OPTIONS, type DumpConnection, pgDump } from '../../copies/dump/pg-dump';
import { TEXT_FORMAT } from '../../copies/dump/snapshot.repository';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { JsonObject } from '../../common/text/json';
import { CliError, EXIT } from '../cli-error';

/** Schemas of Supabase's own services. */
const MANAGED = [
  ...['auth', 'storage', 'realtime', '_realtime', 'supabase_functions', 'supabase_migrations', 'extensions'],
  ...['graphql', 'graphql_public', 'vault', 'pgsodium', 'pgsodium_masks', 'pgbouncer', 'net', 'cron', 'pgmq'],
  ...['pgtle', '_analytics', '_supavisor', 'information_schema', 'plinth'],
];
/** Roles to which privileges and policies mean the same here. */
const API_ROLES = ['anon', 'authenticated', 'service_role'];
const FETCHED = 1_000;

export interface SourceTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly is_open: boolean;
}

export interface SourceFile {
  readonly bucket: string;
  readonly name: string;
  readonly owner: string | null;
  readonly size: number | null;
  readonly content_type: string | null;
  readonly cache_control: string | null;
  readonly user_metadata: JsonObject | null;
  readonly version: string | null;
  readonly created_at: string;
}

export interface SourcePolicy {
  readonly table: string;
  readonly name: string;
  readonly permissive: string;
  readonly command: string;
  readonly roles: readonly string[];
  readonly using: string | null;
  readonly check: string | null;
}

/** An object that is not imported, and the reason. */
export interface Remark extends Readonly<Record<string, unknown>> {
  readonly object: string;
  readonly reason: string;
}

/** @throws CliError for an invalid address */
function clientOf(url: string): Client {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url))
    throw new CliError(
      'The source is not an address as postgresql://user:password@host/database',
      EXIT.usage,
    );
  const client = new Client({ connectionString: url, application_name: 'plinth-import' });
  client.on('error', () => undefined);
  return client;
}

export class SupabaseSource {
  private constructor(
    private readonly client: Client,
    private readonly snapshot: string,
    readonly schemas: readonly string[],
  ) {}

  /** @throws CliError for a database without Supabase's tables of users */
  static async open(url: string): Promise<SupabaseSource> {
    const client = clientOf(url);
    await client.connect();
    await client.query('begin isolation level repeatable read, read only');
    await client.query(TEXT_FORMAT);
    const { rows } = await client.query<{ id: string; known: boolean; schemas: string[] }>(
      `select pg_catalog.pg_export_snapshot() as id, exists (select from pg_catalog.pg_attribute
          where attrelid = pg_catalog.to_regclass('auth.users') and attname = 'raw_user_meta_data') as known,
        array(select n.nspname::text from pg_catalog.pg_namespace n where n.nspname !~ '^pg_' and n.nspname <> all($1)
          and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_namespace'::regclass
            and d.objid = n.oid and d.deptype = 'e') order by 1) as schemas`,
      [MANAGED],
    );
    const [facts] = rows;
    if (facts?.known !== true) {
      await client.end();
      throw new CliError('The database has no auth.users as Supabase makes it', EXIT.failed);
    }
    return new SupabaseSource(client, facts.id, facts.schemas);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** As node-postgres parsed it from the address, and from PGPASSWORD. */
  private get connection(): DumpConnection {
    const { host, port, user, password, database, ssl } = this.client;
    return { host, port, user: user ?? '', password: password ?? '', database: database ?? '', ssl };
  }

  /** The text of pg_dump of the project's own schemas. */
  async dump(section: 'pre-data' | 'post-data'): Promise<Buffer> {
    const schemas = this.schemas.map((schema) => `--schema=${quoteIdentifier(schema)}`);
    const options = [
      '--no-privileges',
      '--no-publications',
      '--no-subscriptions',
      `--snapshot=${this.snapshot}`,
    ];
    const chunks: Buffer[] = [];
    const args = [...DUMP_OPTIONS, ...options, `--section=${section}`, ...schemas];
    for await (const chunk of pgDump(this.connection, args)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  tables(): Promise<SourceTable[]> {
    return this.list<SourceTable>(
      `select n.nspname as schema, c.relname as name, not c.relrowsecurity and exists (
            select from pg_catalog.aclexplode(c.relacl) a join pg_catalog.pg_roles r on r.oid = a.grantee
            where r.rolname in ('anon', 'authenticated')) as is_open,
          array(select a.attname::text from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0
            and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
        from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where c.relkind = 'r' and c.relpersistence <> 't' and n.nspname = any($1) and ${notOfExtension('pg_class', 'c')}
        order by 1, 2`,
      [this.schemas],
    );
  }

  /** The rows of a table as COPY writes them. */
  copyOut({ schema, name, columns }: SourceTable): string {
    return `copy ${quoteQualified(schema, name)} (${columns.map(quoteIdentifier).join(', ')}) to stdout`;
  }

  /** Yields rows of auth.users with their identities. */
  users(): AsyncGenerator<JsonObject, void, undefined> {
    return this.stream<JsonObject>(
      `select pg_catalog.to_jsonb(u) || pg_catalog.jsonb_build_object('identities', (
          select pg_catalog.jsonb_agg(pg_catalog.to_jsonb(i)) from auth.identities i where i.user_id = u.id)) as row
        from auth.users u order by u.id`,
    );
  }

  buckets(): Promise<JsonObject[]> {
    return this.rows('select pg_catalog.to_jsonb(b) as row from storage.buckets b order by b.id');
  }

  /** Yields the rows of files; folders have no rows. */
  files(): AsyncGenerator<SourceFile, void, undefined> {
    return this.stream<SourceFile>(
      `select pg_catalog.jsonb_build_object('bucket', o.bucket_id, 'name', o.name,
          'owner', coalesce(pg_catalog.to_jsonb(o)->>'owner_id', o.owner::text), 'size', (o.metadata->>'size')::bigint,
          'content_type', o.metadata->>'mimetype', 'cache_control', o.metadata->>'cacheControl',
          'user_metadata', pg_catalog.to_jsonb(o)->'user_metadata', 'version', pg_catalog.to_jsonb(o)->>'version',
          'created_at', o.created_at) as row
        from storage.objects o where o.name is not null and o.bucket_id is not null order by o.bucket_id, o.name`,
    );
  }

  /** Policies of tables that Supabase's services own. */
  policies(): Promise<SourcePolicy[]> {
    return this.rows<SourcePolicy>(
      `select pg_catalog.jsonb_build_object('table', schemaname || '.' || tablename, 'name', policyname,
          'permissive', permissive, 'command', cmd, 'roles', roles, 'using', qual, 'check', with_check) as row
        from pg_catalog.pg_policies where schemaname in ('storage', 'realtime') order by schemaname, tablename, policyname`,
    );
  }

  /** Triggers on auth.users, and the functions that they call. */
  userTriggers(): Promise<{ readonly name: string; readonly text: string; readonly calls: string }[]> {
    return this.list(
      `select t.tgname as name, pg_catalog.pg_get_triggerdef(t.oid) as text, p.proname as calls
        from pg_catalog.pg_trigger t join pg_catalog.pg_proc p on p.oid = t.tgfoid
        where t.tgrelid = 'auth.users'::regclass and not t.tgisinternal and t.tgenabled <> 'D' order by 1`,
    );
  }

  /** Functions that the project added to schemas of Supabase's services. */
  async addedFunctions(): Promise<string[]> {
    const found = await this.list<{ text: string }>(
      `select pg_catalog.pg_get_functiondef(p.oid) as text from pg_catalog.pg_proc p
        join pg_catalog.pg_namespace n on n.oid = p.pronamespace
        where n.nspname in ('auth', 'storage') and p.prokind in ('f', 'p')
          and pg_catalog.pg_get_userbyid(p.proowner) not in ('supabase_admin', 'supabase_auth_admin', 'supabase_storage_admin')
          and p.proname not in ('uid', 'role', 'email', 'jwt', 'foldername', 'filename', 'extension', 'search')
          and ${notOfExtension('pg_proc', 'p')}`,
    );
    return found.map(({ text }) => text);
  }

  extensions(): Promise<{ readonly name: string; readonly schema: string }[]> {
    return this.list(
      `select e.extname as name, n.nspname as schema from pg_catalog.pg_extension e
        join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname <> 'plpgsql' order by 1`,
    );
  }

  sequences(): Promise<{ readonly schema: string; readonly name: string; readonly value: string }[]> {
    return this.list(
      `select schemaname as schema, sequencename as name, last_value::text as value from pg_catalog.pg_sequences
        where schemaname = any($1) and last_value is not null order by 1, 2`,
      [this.schemas],
    );
  }

  materializedViews(): Promise<{ readonly schema: string; readonly name: string }[]> {
    return this.list(
      `select schemaname as schema, matviewname as name from pg_catalog.pg_matviews
        where schemaname = any($1) and ispopulated order by 1, 2`,
      [this.schemas],
    );
  }

  published(): Promise<{ readonly schema: string; readonly name: string }[]> {
    return this.list(
      `select schemaname as schema, tablename as name from pg_catalog.pg_publication_tables
        where pubname = 'supabase_realtime' and schemaname = any($1) order by 1, 2`,
      [this.schemas],
    );
  }

  /** Statements that grant the roles of the API their present privileges, and revoke all others. */
  async privileges(): Promise<string[]> {
    const statements = await this.list<{ text: string }>(PRIVILEGES, [this.schemas, API_ROLES]);
    return statements.map(({ text }) => text);
  }

  /** Lists objects that have no counterpart, or differ. A catalog that may not be read counts as empty. */
  async remarks(): Promise<Remark[]> {
    const found: Remark[] = [];
    for (const [query, reason] of LEFT_BEHIND) {
      await this.client.query('savepoint remarks');
      try {
        for (const { object } of await this.list<{ object: string }>(
          query,
          query.includes('$1') ? [this.schemas] : [],
        ))
          found.push({ object, reason });
      } catch {
        await this.client.query('rollback to savepoint remarks');
      }
    }
    return found;
  }

  private async list<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.client.query(text, values)).rows as T[];
  }

  private async rows<T = JsonObject>(text: string): Promise<T[]> {
    return (await this.list<{ row: T }>(text)).map(({ row }) => row);
  }

  private async *stream<T>(text: string): AsyncGenerator<T, void, undefined> {
    await this.client.query(`declare rows no scroll cursor for ${text}`);
    for (;;) {
      const rows = await this.rows<T>(`fetch ${FETCHED} from rows`);
      yield* rows;
      if (rows.length < FETCHED) break;
    }
    await this.client.query('close rows');
  }

  /** Runs queries for COPY one after the other. */
  get reader(): Client {
    return this.client;
  }
}

const notOfExtension = (catalog: string, alias: string): string =>
  `not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.${catalog}'::regclass
    and d.objid = ${alias}.oid and d.deptype = 'e')`;

/** SQL: \`grant\` statements of the entries of an access list. @param kind SQL, such as \`'table'\` @param object SQL @param columns SQL */
const grants = (acl: string, kind: string, object: string, columns = `''`): string => `coalesce((
  select pg_catalog.string_agg(pg_catalog.format('grant %s%s on %s %s to %s;', a.privileges, ${columns}, ${kind}, ${object}, a.grantee), ' ')
  from (select pg_catalog.string_agg(distinct e.privilege_type, ', ') as privileges,
      case when e.grantee = 0 then 'public' else pg_catalog.quote_ident(r.rolname) end as grantee
    from pg_catalog.aclexplode(${acl}) e left join pg_catalog.pg_roles r on r.oid = e.grantee
    where (e.grantee = 0 or r.rolname = any($2)) and e.privilege_type <> 'MAINTAIN' group by 2) a), '')`;
const revoked = (kind: string, object: string): string =>
  `pg_catalog.format('revoke all on %s %s from public, anon, authenticated, service_role; ', ${kind}, ${object})`;

const PRIVILEGES = `
  select ${revoked('x.kind', 'x.object')} || ${grants('x.acl', 'x.kind', 'x.object')} as text from (
    select case when c.relkind = 'S' then 'sequence' else 'table' end as kind,
      pg_catalog.format('%I.%I', n.nspname, c.relname) as object,
      coalesce(c.relacl, pg_catalog.acldefault(case when c.relkind = 'S' then 's' else 'r' end::"char", c.relowner)) as acl
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'v', 'm', 'f', 'p', 'S') and n.nspname = any($1) and ${notOfExtension('pg_class', 'c')}
    union all
    select 'routine', p.oid::regprocedure::text, coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = any($1) and ${notOfExtension('pg_proc', 'p')}
    union all
    select 'schema', pg_catalog.quote_ident(n.nspname), coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner))
    from pg_catalog.pg_namespace n where n.nspname = any($1) and n.nspname <> 'public') x
  union all
  select ${grants('t.attacl', `'table'`, `pg_catalog.format('%I.%I', n.nspname, c.relname)`, `pg_catalog.format(' (%I)', t.attname)`)}
  from pg_catalog.pg_attribute t join pg_catalog.pg_class c on c.oid = t.attrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where t.attacl is not null and t.attnum > 0 and not t.attisdropped and n.nspname = any($1)`;

/** Queries for objects that are not imported. They may fail: a schema need not exist, and the user may lack rights. */
const LEFT_BEHIND: readonly (readonly [string, string])[] = [
  [
    `select 'vault: secret ' || coalesce(name, id::text) as object from vault.secrets order by 1 limit 100`,
    'secrets are encrypted for the old server: keep them in the settings of your own server',
  ],
  [
    `select 'cron: ' || coalesce(jobname, jobid::text) || ' (' || schedule || ')' as object from cron.job order by 1 limit 100`,
    'pg_cron is not available: `plinth schedules create`',
  ],
  [`select 'queue ' || queue_name as object from pgmq.meta order by 1 limit 100`, 'pgmq is not available'],
  [
    `select 'database webhook ' || t.tgname || ' on ' || t.tgrelid::regclass as object from pg_catalog.pg_trigger t
      join pg_catalog.pg_proc p on p.oid = t.tgfoid join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'supabase_functions' and not t.tgisinternal order by 1`,
    'its function is of Supabase: `plinth webhooks create`',
  ],
  [
    `select 'event trigger ' || evtname as object from pg_catalog.pg_event_trigger e join pg_catalog.pg_proc p on p.oid = e.evtfoid
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace where n.nspname = any($1) order by 1`,
    'only a superuser may create event triggers',
  ],
  [
    `select 'foreign server ' || srvname as object from pg_catalog.pg_foreign_server order by 1`,
    'foreign servers need an administrator of the database',
  ],
  [
    `select 'publication ' || pubname as object from pg_catalog.pg_publication
      where pubname not in ('supabase_realtime', 'supabase_realtime_messages_publication') order by 1`,
    'create it again for its subscriber',
  ],
  [
    `select 'trigger ' || t.tgname || ' on ' || t.tgrelid::regclass as object from pg_catalog.pg_trigger t
      join pg_catalog.pg_proc p on p.oid = t.tgfoid join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where t.tgrelid::regclass::text in ('storage.objects', 'storage.buckets') and n.nspname = any($1) and not t.tgisinternal`,
    'write it for storage.files, whose columns have other names',
  ],
  [
    `select count(*) || ' second factors' as object from auth.mfa_factors where status::text = 'verified' having count(*) > 0`,
    'their secrets stay on the old server: users set them up again',
  ],
  [
    `select 'SAML provider ' || entity_id as object from auth.saml_providers order by 1`,
    'set it up again: its address for answers is another one',
  ],
  [
    `select count(*) || ' large objects' as object from pg_catalog.pg_largeobject_metadata having count(*) > 0`,
    'they are not copied',
  ],
];
