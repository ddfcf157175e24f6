/** Changes the publication of a project's live tables, as the project's owner. */
import { Injectable } from '@nestjs/common';
import { codeOf } from '../common/errors/error-facts';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { quoteQualified } from '../database/sql/identifier';
import { OwnerDatabase } from '../projects/owner-database';
import type { ProjectEntity } from '../projects/project.entity';
import { allTablesLive, needsIdentity, tableUnknown } from './changes.errors';
import { PUBLICATION } from './feed-slots';

interface TableState {
  readonly schema: string;
  readonly table: string;
  readonly live: boolean;
  readonly can_be_live: boolean;
}

const MAX_TABLES = 2_000;
/** Limits the wait for writers, which block a change of the publication. */
const SETTINGS = {
  options: `${OWNER_WORK_OPTIONS} -c lock_timeout=5s -c statement_timeout=15s`,
  application_name: 'plinth-changes',
};
/** SQLSTATEs for a table that is already in the publication, or is not in it. */
const NOTHING_TO_DO = new Set(['42710', '42704']);

const TABLES = `select n.nspname as schema, c.relname as table,
    exists (select from pg_catalog.pg_publication_tables p where p.pubname = '${PUBLICATION}'
      and p.schemaname = n.nspname and p.tablename = c.relname) as live,
    c.relpersistence = 'p' and (c.relreplident in ('f', 'i') or c.relreplident = 'd'
      and exists (select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary)) as can_be_live
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_'
    and n.nspname not in ('information_schema', 'auth', 'storage', 'plinth', 'realtime')
    and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
                    and d.objid = c.oid and d.deptype = 'e')
    and ($1::text is null or n.nspname = $1 and c.relname = $2)
  order by 1, 2 limit ${MAX_TABLES}`;

@Injectable()
export class LiveTables {
  constructor(private readonly owner: OwnerDatabase) {}

  async list(project: ProjectEntity): Promise<TableState[]> {
    return this.owner.use(project, 'reads which tables are live', (client) => read(client), SETTINGS);
  }

  /** @throws AppError 404 without such a table, 409 when it cannot be live */
  async change(
    project: ProjectEntity,
    { schema, table, live }: Omit<TableState, 'can_be_live'>,
  ): Promise<TableState> {
    return this.owner.use(
      project,
      'changes which tables are live',
      async (client) => {
        const [state] = await read(client, schema, table);
        if (!state) throw tableUnknown(schema, table);
        if (live && !state.can_be_live) throw needsIdentity(schema, table);
        if (await publishesAll(client)) throw allTablesLive();
        const verb = live ? 'add' : 'drop';
        await client
          .query(`alter publication ${PUBLICATION} ${verb} table ${quoteQualified(schema, table)}`)
          .catch((error: unknown) => {
            if (!NOTHING_TO_DO.has(codeOf(error) ?? '')) throw error;
          });
        return { ...state, live };
      },
      SETTINGS,
    );
  }
}

async function read(
  client: BoundedClient,
  schema: string | null = null,
  table: string | null = null,
): Promise<TableState[]> {
  return (await client.query<TableState>(TABLES, [schema, table])).rows;
}

/** Creates the publication if it is missing. */
async function publishesAll(client: BoundedClient): Promise<boolean> {
  const text = `select puballtables as all from pg_catalog.pg_publication where pubname = '${PUBLICATION}'`;
  const [found] = (await client.query<{ all: boolean }>(text)).rows;
  if (!found)
    await client
      .query(`create publication ${PUBLICATION} with (publish_via_partition_root = true)`)
      .catch((error: unknown) => {
        if (codeOf(error) !== '42710') throw error;
      });
  return found?.all ?? false;
}
