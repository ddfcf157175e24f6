/** Which bytes belong to which file. Everything runs in the RLS context that is passed in. */
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { FileContent, LinkedFile } from './file';
import { FileRow } from './file.repository';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const CONTENT_COLUMNS = `f.id, f.filename, f.content_type, f.size, f.sha256, f.object_id, f.updated_at,
  b.is_public, b.cache_control`;
const FILES = 'storage.files f left join storage.buckets b on b.id = f.bucket_id';
const NOW = 'floor(extract(epoch from now()))::bigint as now';
const PAGE = 1_000;

type ContentRow = Omit<FileRow, 'bucket_slug'> & {
  readonly object_id: string;
  readonly is_public: boolean | null;
  readonly cache_control: string | null;
};

interface LinkRow {
  readonly link_revision: number;
  /** PostgreSQL's bigint, which the driver leaves as text. */
  readonly now: string;
}

/** What a signed address is made of. */
export type Revision = Pick<LinkedFile, 'revision' | 'now'>;

@Injectable()
export class FileContentRepository {
  constructor(private readonly door: StorageTransaction) {}

  /** What is needed to send the bytes. */
  async findContent(caller: StorageContext, id: string): Promise<FileContent | null> {
    return this.content(caller, id, 'storage:find-content', '');
  }

  /** The same for a file in a public bucket, whatever else the policies show. */
  async findPublicContent(caller: StorageContext, id: string): Promise<FileContent | null> {
    return this.content(caller, id, 'storage:find-public-content', 'and b.is_public');
  }

  async findLinked(caller: StorageContext, id: string): Promise<LinkedFile | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-linked',
      text: `select ${CONTENT_COLUMNS}, f.link_revision, ${NOW} from ${FILES} where f.id = $1`,
      values: [id],
    });
    const row = rows[0] as (ContentRow & LinkRow) | undefined;
    return row ? { content: toContent(row), ...toRevision(row) } : null;
  }

  /** The numbers that signed addresses of a file carry; null when the caller may not read it. */
  async findRevision(caller: StorageContext, id: string): Promise<Revision | null> {
    if (!UUID.test(id)) return null;
    // A statement of its own: PostgreSQL would plan a list of ids, of which it does not know how many, anew each time.
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-revision',
      text: `select f.link_revision, ${NOW} from storage.files f where f.id = $1`,
      values: [id],
    });
    return rows[0] ? toRevision(rows[0] as LinkRow) : null;
  }

  /** The same for each of the files that the caller may read, by id. */
  async findRevisions(
    caller: StorageContext,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Revision>> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-revisions',
      text: `select f.id, f.link_revision, ${NOW} from storage.files f where f.id = any($1::uuid[])`,
      // Also for none: the caller's session is checked on the way.
      values: [ids.filter((id) => UUID.test(id))],
    });
    return new Map((rows as (LinkRow & { id: string })[]).map((row) => [row.id, toRevision(row)]));
  }

  /** True while a file names the object. */
  async isNamed(context: StorageContext, objectId: string): Promise<boolean> {
    const { rows } = await this.door.query(context, {
      name: 'storage:is-named',
      text: 'select 1 from storage.files where object_id = $1',
      values: [objectId],
    });
    return rows.length > 0;
  }

  /**
   * Files by the ids of their objects, in that order, page by page.
   * @param after leaves out this object and those before it
   * @param last leaves out those after it; null: none
   */
  async *byObject(context: StorageContext, after: string, last: string | null): AsyncGenerator<FileContent> {
    for (let from = after; ;) {
      const { rows } = await this.door.query(context, {
        name: 'storage:files-by-object',
        text: `select ${CONTENT_COLUMNS} from ${FILES}
          where f.object_id > $1 and ($2::uuid is null or f.object_id <= $2) order by f.object_id limit ${PAGE}`,
        values: [from, last],
      });
      for (const row of rows as ContentRow[]) {
        yield toContent(row);
        from = row.object_id;
      }
      if (rows.length < PAGE) return;
    }
  }

  private async content(
    caller: StorageContext,
    id: string,
    name: string,
    condition: string,
  ): Promise<FileContent | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name,
      text: `select ${CONTENT_COLUMNS} from ${FILES} where f.id = $1 ${condition}`,
      values: [id],
    });
    return rows[0] ? toContent(rows[0] as ContentRow) : null;
  }
}

function toRevision(row: LinkRow): Revision {
  return { revision: row.link_revision, now: Number(row.now) };
}

function toContent(row: ContentRow): FileContent {
  return {
    id: row.id,
    filename: row.filename,
    contentType: row.content_type,
    size: Number(row.size),
    sha256: row.sha256,
    objectId: row.object_id,
    updatedAt: row.updated_at.getTime(),
    bucket: row.is_public === null ? null : { isPublic: row.is_public, cacheControl: row.cache_control },
  };
}
