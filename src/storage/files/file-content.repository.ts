/** Which bytes belong to which file. Everything runs in the RLS context that is passed in. */
import { Injectable } from '@nestjs/common';
import { FileContent } from './file';
import { FileRow, UUID } from './file.repository';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const CONTENT_COLUMNS = 'f.id, f.filename, f.content_type, f.size, f.sha256, f.object_id, f.updated_at';
const PAGE = 1_000;

type ContentRow = Omit<FileRow, 'bucket_slug'> & { readonly object_id: string };

@Injectable()
export class FileContentRepository {
  constructor(private readonly door: StorageTransaction) {}

  /** What is needed to send the bytes. */
  async findContent(caller: StorageContext, id: string): Promise<FileContent | null> {
    return this.content(caller, id, 'storage:find-content', '');
  }

  /** The same for a file in a public bucket, whatever else the policies show. */
  async findPublicContent(caller: StorageContext, id: string): Promise<FileContent | null> {
    return this.content(
      caller,
      id,
      'storage:find-public-content',
      'and exists (select from storage.buckets b where b.id = f.bucket_id and b.is_public)',
    );
  }

  /** The bytes' description with the number that signed addresses of the file carry. */
  async findLinked(
    caller: StorageContext,
    id: string,
  ): Promise<(FileContent & { linkRevision: number }) | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(caller, {
      name: 'storage:find-linked',
      text: `select ${CONTENT_COLUMNS}, f.link_revision from storage.files f where f.id = $1`,
      values: [id],
    });
    const row = rows[0] as (ContentRow & { link_revision: number }) | undefined;
    return row ? { ...toContent(row), linkRevision: row.link_revision } : null;
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
        text: `select ${CONTENT_COLUMNS} from storage.files f
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
      text: `select ${CONTENT_COLUMNS} from storage.files f where f.id = $1 ${condition}`,
      values: [id],
    });
    return rows[0] ? toContent(rows[0] as ContentRow) : null;
  }
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
  };
}
