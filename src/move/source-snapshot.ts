/** A snapshot of the project's database on the source, read as its owner. */
import { randomBytes } from 'node:crypto';
import { ArchiveReader } from '../backup/archive/archive-reader';
import { SnapshotLimits } from '../copies/dump/snapshot-limits';
import { SnapshotRepository } from '../copies/dump/snapshot.repository';
import { DUMP_OPTIONS, pgDump } from '../copies/dump/pg-dump';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import type { OwnerDatabase } from '../projects/owner-database';
import type { ProjectEntity } from '../projects/project.entity';
import { schemaFingerprint } from './schema-fingerprint';

/** The definitions of a database as SQL: the part before its rows, and the part after them. */
export interface SchemaText {
  readonly fingerprint: string;
  readonly preData: Buffer;
  readonly postData: Buffer;
}

const MOVE_NAME = 'plinth-move';

export class SourceSnapshot {
  private constructor(
    private readonly owner: OwnerDatabase,
    private readonly project: ProjectEntity,
    readonly client: BoundedClient,
    readonly rows: SnapshotRepository,
  ) {}

  /** @param exported the snapshot of another session, to use instead of a new one */
  static async during<T>(
    owner: OwnerDatabase,
    project: ProjectEntity,
    work: (source: SourceSnapshot) => Promise<T>,
    exported?: string,
  ): Promise<T> {
    let client: BoundedClient | undefined;
    const limits = new SnapshotLimits((error) => client?.abort(error));
    const settings = {
      options: OWNER_WORK_OPTIONS,
      application_name: MOVE_NAME,
      limits,
      copiesOut: true,
      keepAlive: true,
    };
    const begin = async (connected: BoundedClient): Promise<T> => {
      client = connected;
      const rows = await SnapshotRepository.begin(connected, limits, exported);
      return work(new SourceSnapshot(owner, project, connected, rows));
    };
    return owner.use(project, 'a move reads every table', begin, settings);
  }

  /** @param key makes the texts of equal schemas equal (pg_dump's --restrict-key) */
  async schema(key: string): Promise<SchemaText> {
    return {
      fingerprint: await schemaFingerprint(this.client),
      preData: await this.text(key, '--section=pre-data'),
      postData: await this.text(key, '--section=post-data'),
    };
  }

  /** True when the definitions in the database are equal to the text. */
  async hasSchema(known: SchemaText, key: string): Promise<boolean> {
    if ((await schemaFingerprint(this.client)) === known.fingerprint) return true;
    // Temporary tables change the fingerprint, too.
    const { preData, postData } = await this.schema(key);
    return preData.equals(known.preData) && postData.equals(known.postData);
  }

  async hasLargeObjects(): Promise<boolean> {
    const { rowCount } = await this.client.query('select from pg_catalog.pg_largeobject_metadata limit 1');
    return rowCount === 1;
  }

  largeObjects(key: string): AsyncGenerator<Buffer, void, undefined> {
    return this.dump(key, '--section=data', '--exclude-table-data=*.*');
  }

  /** Ends the snapshot: later reads see the database as it is. */
  async leave(): Promise<void> {
    await this.client.query('commit');
  }

  private text(key: string, ...args: string[]): Promise<Buffer> {
    return ArchiveReader.hold(this.dump(key, ...args));
  }

  private dump(key: string, ...args: string[]): AsyncGenerator<Buffer, void, undefined> {
    const options = [...DUMP_OPTIONS, `--restrict-key=${key}`, `--snapshot=${this.rows.id}`, ...args];
    return pgDump(this.owner.connectionOf(this.project), options);
  }
}

/** Bytes of the tables with their indexes, and of large objects. */
export async function sizeOf(owner: OwnerDatabase, project: ProjectEntity): Promise<number> {
  return owner.use(project, 'the size decides how long a move takes', async (client) => {
    const { rows } = await client.query<{ bytes: number }>(
      `select (coalesce(sum(pg_catalog.pg_total_relation_size(c.oid)), 0)
         + pg_catalog.pg_relation_size('pg_catalog.pg_largeobject'))::float8 as bytes
       from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`,
    );
    return rows[0]?.bytes ?? 0;
  });
}

/** Random, so that no text of the project can contain it. */
export const newRestrictKey = (): string => randomBytes(24).toString('hex');
