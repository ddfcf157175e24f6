/** The steps of an import. Each can be repeated: existing objects are not changed. */
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { JsonObject } from '../../common/text/json';
import { quoteIdentifier, quoteLiteral, quoteQualified } from '../../database/sql/identifier';
import { DumpText } from '../../copies/dump/dump-text';
import { dataOf } from '../admin-client';
import type { CommandContext } from '../command-context';
import { FORMATS } from '../user-formats';
import { importUsers } from '../users.commands';
import { FileImport, type FileSource } from './files';
import { importPolicies } from './policies';
import { adapted, adaptedTrigger, entriesOf, missingParts } from './schema';
import { type Remark, SupabaseSource } from './source';
import { ImportTarget } from './target';

export interface ImportRequest {
  readonly url: string;
  /** Id or slug. */
  readonly project: string;
  /** Null if files are not imported. */
  readonly files: FileSource | null;
  readonly existing: 'skip' | 'update';
  /** True: changes nothing. Without a project, the schema is not tried either. */
  readonly isRehearsal: boolean;
}

export interface ImportReport {
  readonly dry_run: boolean;
  users: number;
  statements: number;
  /** Objects that were there already. */
  existing: number;
  tables: number;
  rows: number;
  buckets: number;
  files: number;
  existing_files: number;
  readonly differs: Remark[];
  readonly failed: Remark[];
}

/** Extensions of Supabase's services. */
const OWN_EXTENSIONS = [
  ...['supabase_vault', 'pg_net', 'pg_cron', 'pg_graphql', 'pgsodium', 'pgjwt', 'pg_stat_statements', 'pgmq'],
  ...['pg_tle', 'wrappers', 'http', 'pg_stat_monitor', 'pgaudit', 'plv8'],
];
const FOREVER = '9999-12-31T00:00:00Z';

type Found = { readonly id: string; readonly slug: string } | null;

export async function importSupabase(context: CommandContext, request: ImportRequest): Promise<ImportReport> {
  const project = await context.server.findProjectIfAny(request.project);
  const source = await SupabaseSource.open(request.url);
  try {
    return await new Import(context, request, source).importFound(project);
  } finally {
    await source.close();
  }
}

class Import {
  private readonly report: ImportReport = {
    ...{ dry_run: false, users: 0, statements: 0, existing: 0, tables: 0, rows: 0 },
    ...{ buckets: 0, files: 0, existing_files: 0, differs: [], failed: [] },
  };

  constructor(
    private readonly context: CommandContext,
    private readonly request: ImportRequest,
    private readonly source: SupabaseSource,
  ) {}

  async importFound(found: Found): Promise<ImportReport> {
    const { isRehearsal } = this.request;
    const project = found ?? (isRehearsal ? null : await this.create());
    this.report.differs.push(...(await this.source.remarks()), ...SETTINGS);
    for (const table of await this.source.tables())
      if (table.is_open)
        this.differ(
          `table ${table.schema}.${table.name}`,
          'row-level security is off: the anon key reaches it',
        );
    if (project === null)
      this.differ('the project', 'does not exist: create it, and the dry run tries the schema in it');
    else {
      if (!isRehearsal) await this.users(project.id);
      const { owner_url: url } = await dataOf(
        this.context.api.GET('/admin/v1/projects/{id}/database', { params: { path: { id: project.id } } }),
      );
      const target = await ImportTarget.open(url, isRehearsal);
      try {
        await this.database(target);
        await this.storage(target, project);
      } finally {
        await target.close();
      }
      this.report.failed.push(...target.failed);
      this.report.statements = target.done;
      this.report.existing = target.existing;
    }
    return { ...this.report, dry_run: isRehearsal };
  }

  private create(): Promise<Found> {
    const { project } = this.request;
    return dataOf(this.context.api.POST('/admin/v1/projects', { body: { name: project, slug: project } }));
  }

  /** A deleted user keeps its id, to which tables refer. */
  private async users(id: string): Promise<void> {
    const { source } = this;
    async function* lines(): AsyncGenerator<string, void, undefined> {
      for await (const row of source.users()) {
        const deleted: JsonObject = { id: row.id ?? null, banned_until: FOREVER };
        yield JSON.stringify(row.deleted_at ? deleted : FORMATS.supabase?.(row, NO_OPTIONS));
      }
    }
    const report = await importUsers(this.context, id, lines(), { existing: this.request.existing });
    this.report.users = report.created + report.updated;
    for (const { line, message } of report.errors)
      this.report.failed.push({ object: `user ${line}, by id`, reason: message });
    for (const provider of report.unknown_providers)
      this.differ(
        `identities of ${provider}`,
        'set the provider up, and import again with --existing update',
      );
  }

  private async database(target: ImportTarget): Promise<void> {
    const { source } = this;
    await this.extensions(target);
    const triggers = await source.userTriggers();
    const calls = new Set(triggers.map((one) => one.calls));
    for (const text of await source.addedFunctions())
      await target.runSql(text.slice(0, text.indexOf('(')), text);
    await this.section(target, 'pre-data', calls);
    if (!this.request.isRehearsal) await this.rows(target);
    await this.section(target, 'post-data', calls);
    for (const { name, text } of triggers)
      await target.runSql(`TRIGGER auth.users ${name}`, adaptedTrigger(text));
    if (!this.request.isRehearsal)
      for (const { schema, name } of await source.materializedViews())
        await target.tryRun(`refresh materialized view ${quoteQualified(schema, name)}`);
    for (const text of await source.privileges()) await target.tryRun(text);
    const published = await source.published();
    if (published.length > 0) await target.tryRun('create publication supabase_realtime');
    for (const { schema, name } of published)
      await target.runSql(
        `PUBLICATION supabase_realtime of ${schema}.${name}`,
        `alter publication supabase_realtime add table ${quoteQualified(schema, name)}`,
      );
  }

  private async extensions(target: ImportTarget): Promise<void> {
    for (const { name, schema } of await this.source.extensions()) {
      if (OWN_EXTENSIONS.includes(name)) {
        this.differ(`extension ${name}`, 'belongs to the services of Supabase');
        continue;
      }
      const into = this.source.schemas.includes(schema) ? schema : 'extensions';
      if (into !== 'public' && into !== 'extensions')
        await target.tryRun(`create schema if not exists ${quoteIdentifier(into)}`);
      await target.runSql(
        `EXTENSION ${name}`,
        `create extension if not exists ${quoteIdentifier(name)} with schema ${quoteIdentifier(into)}`,
      );
    }
  }

  private async section(
    target: ImportTarget,
    section: 'pre-data' | 'post-data',
    userTriggers: ReadonlySet<string>,
  ): Promise<void> {
    const { rows } = await target.client.query<{ version: number }>(
      `select pg_catalog.current_setting('server_version_num')::int as version`,
    );
    const dumpTarget = {
      serverVersion: rows[0]?.version ?? 0,
      schemas: [],
      roles: new Map<string, string>(),
    };
    const text = await new DumpText(dumpTarget).section(await this.source.dump(section));
    const { settings, entries } = entriesOf(text);
    await target.client.query(settings);
    for (const entry of entries) {
      const statement = adapted(entry, userTriggers);
      if (statement !== entry.text) this.differ(entry.object, 'sees the columns of auth.users in Plinth');
      for (const part of missingParts(entry)) this.differ(entry.object, `calls ${part}, which is not here`);
      await target.runSql(entry.object, statement);
    }
    this.context.remark(`${section}: ${target.done} statements, ${target.existing} existed`);
  }

  /** A table that has rows was copied before. */
  private async rows(target: ImportTarget): Promise<void> {
    for (const table of await this.source.tables()) {
      const name = quoteQualified(table.schema, table.name);
      await this.source.reader.query('savepoint rows');
      try {
        const { rows } = await target.client.query<{ full: boolean }>(
          `select exists (select from ${name}) as full`,
        );
        if (rows[0]?.full === true) continue;
        const columns = table.columns.map(quoteIdentifier).join(', ');
        const into = target.client.query(copyFrom(`copy ${name} (${columns}) from stdin`));
        await passOn(this.source.reader.query(copyTo(this.source.copyOut(table))), into);
        this.report.tables += 1;
        this.report.rows += into.rowCount;
      } catch (error) {
        await this.source.reader.query('rollback to savepoint rows');
        this.report.failed.push({
          object: `rows of ${table.schema}.${table.name}`,
          reason: (error as Error).message,
        });
      }
      this.context.remark(`${table.schema}.${table.name}: ${this.report.rows} rows in all`);
    }
    for (const { schema, name, value } of await this.source.sequences()) {
      const sequence = quoteQualified(schema, name);
      await target.tryRun(
        `select pg_catalog.setval(${quoteLiteral(sequence)}, greatest(${BigInt(value)}, last_value)) from ${sequence}`,
      );
    }
  }

  private async storage(target: ImportTarget, { id, slug }: { id: string; slug: string }): Promise<void> {
    const { files: source, isRehearsal } = this.request;
    const buckets = await this.source.buckets();
    const policies = await this.source.policies();
    const params = { path: { id } };
    if (buckets.length > 0 && !isRehearsal) {
      const keys = await dataOf(this.context.api.GET('/admin/v1/projects/{id}/keys', { params }));
      const files = new FileImport(this.context.server, slug, keys.service_role_key, target);
      for (const bucket of buckets) if (await files.bucket(bucket)) this.report.buckets += 1;
      if (source) await files.files(this.source.files(), source);
      this.report.files = files.report.copied;
      this.report.existing_files = files.report.existing;
      this.report.failed.push(...files.report.failed);
    }
    if (buckets.length > 0 && source === null)
      this.differ('files', 'are not copied without --storage-url or --files');
    if (buckets.length + policies.length === 0) return;
    this.differ(
      'policies of storage.objects',
      'become policies of storage.files; the shipped policies for users are dropped',
    );
    await importPolicies(target, policies);
  }

  private differ(object: string, reason: string): void {
    this.report.differs.push({ object, reason });
  }
}

/** Reads to the end even if the target fails: a COPY that is not read blocks its connection. */
async function passOn(from: Readable, to: Writable): Promise<void> {
  const ended = finished(to);
  let isOpen = true;
  ended.catch(() => (isOpen = false));
  for await (const chunk of from)
    if (isOpen && !to.write(chunk)) await Promise.race([once(to, 'drain'), ended]).catch(() => undefined);
  if (isOpen) to.end();
  await ended;
}

const NO_OPTIONS = { firebaseHash: null, auth0Hashes: new Map<string, string>() };

/** Reports data that the database does not contain. */
const SETTINGS: readonly Remark[] = [
  { object: 'edge functions', reason: 'are not in the database, and have no counterpart' },
  {
    object: 'providers, mails and other settings of sign-in',
    reason: 'are not in the database: set them up again',
  },
  { object: 'sessions', reason: 'users sign in again' },
];
