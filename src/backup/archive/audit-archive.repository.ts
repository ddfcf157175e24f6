/** Copies the audit log out of the platform database for a backup of the install, and into it for a restore. */
import { Inject, Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { JsonObject } from '../../common/text/json';
import { withConnection } from '../../database/pools/one-off-connection';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import type { Actor } from '../../install/audit/audit-log.repository';
import { CopyOut } from '../../copies/copy/copy-out';
import { TEXT_FORMAT } from '../../copies/dump/snapshot.repository';

/** Detail of an entry that a restore added: the author of the restore. It is hashed with the entry. */
const IMPORTED_BY = 'imported_by';
const COLUMNS = 'at, actor, action, project_id, address, details';

export interface StagedAuditLog {
  /** Reads archived entries, which are not part of the audit log yet. @returns their number */
  load(chunks: AsyncIterable<Buffer>): Promise<number>;
  /**
   * Adds the staged entries that the audit log does not have, marked as imported, and an entry about the restore.
   * @param details details of the entry about the restore
   * @returns the number of entries that were added from the archive
   */
  add(actor: Actor, details: JsonObject): Promise<number>;
}

@Injectable()
export class AuditArchiveRepository {
  constructor(@Inject(PLATFORM_URL) private readonly platformUrl: string) {}

  /**
   * Reads all entries in COPY's text format, oldest first.
   * @returns their number
   */
  async read(use: (chunks: AsyncIterable<Buffer>) => Promise<void>): Promise<number> {
    return withConnection({ connectionString: this.platformUrl }, async (client) => {
      await client.query(TEXT_FORMAT);
      const stream = client.query(
        new CopyOut(`copy (select ${COLUMNS} from public.audit_log order by id) to stdout`),
      );
      await use(stream as AsyncIterable<Buffer>);
      // Waits for the end of the COPY, which comes with the number of rows.
      await client.query('select');
      return stream.rowCount;
    });
  }

  /** @param work the entries that it loads are discarded unless it adds them */
  async staging<T>(work: (staged: StagedAuditLog) => Promise<T>): Promise<T> {
    return withConnection({ connectionString: this.platformUrl }, async (client) => {
      await client.query(TEXT_FORMAT);
      await client.query(
        `create temp table staged as select ${COLUMNS} from public.audit_log with no data;
         alter table staged add column position bigint generated always as identity`,
      );
      return work({
        load: (chunks) => load(client, chunks),
        add: (actor, details) => add(client, actor, details),
      });
    });
  }
}

async function load(client: Client, chunks: AsyncIterable<Buffer>): Promise<number> {
  const stream = client.query(copyFrom(`copy pg_temp.staged (${COLUMNS}) from stdin`));
  await pipeline(Readable.from(chunks, { objectMode: false }), stream);
  return stream.rowCount;
}

/** An entry is known by its content: it has another id in another install, and a restore may be repeated. */
async function add(client: Client, actor: Actor, details: JsonObject): Promise<number> {
  await client.query('begin');
  const { rowCount } = await client.query(
    `insert into public.audit_log (${COLUMNS})
     select at, actor, action, project_id, address, details || jsonb_build_object('${IMPORTED_BY}', $1::text)
     from pg_temp.staged s
     where not exists (
       select from public.audit_log a
       where a.at = s.at and a.actor = s.actor and a.action = s.action
         and a.details - '${IMPORTED_BY}' = s.details - '${IMPORTED_BY}'
         and a.project_id is not distinct from s.project_id and a.address is not distinct from s.address)
     order by s.position`,
    [actor.name],
  );
  const added = rowCount ?? 0;
  await client.query(
    `insert into public.audit_log (actor, action, project_id, address, details)
     values ($1, 'install.restore', null, $2, $3)`,
    [actor.name, actor.address, JSON.stringify({ ...details, audit_entries: added })],
  );
  await client.query('commit');
  return added;
}
