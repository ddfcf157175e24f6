/** Which bytes belong to which file. Everything runs in the RLS context that is passed in. */
import { Injectable } from '@nestjs/common';
import { FileContent } from './file';
import { FileRow, UUID } from './file.repository';
import { StorageContext, StorageTransaction } from '../storage-transaction';

const CONTENT_COLUMNS = 'f.id, f.filename, f.content_type, f.size, f.sha256, f.object_id, f.updated_at';
const PAGE = 500;
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

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

  /** Those of the objects that a file names: the rest are bytes without a row. */
  async namedObjects(context: StorageContext, objectIds: readonly string[]): Promise<Set<string>> {
    const { rows } = await this.door.query(context, {
      name: 'storage:named-objects',
      text: 'select object_id from storage.files where object_id = any($1::uuid[])',
      values: [objectIds],
    });
    return new Set((rows as { object_id: string }[]).map((row) => row.object_id));
  }

  /** Every file of the project, page by page. */
  async *all(context: StorageContext): AsyncGenerator<FileContent> {
    let after = LOWEST_ID;
    for (;;) {
      const { rows } = await this.door.query(context, {
        name: 'storage:all-files',
        text: `select ${CONTENT_COLUMNS} from storage.files f where f.id > $1 order by f.id limit ${PAGE}`,
        values: [after],
      });
      for (const row of rows as ContentRow[]) {
        yield toContent(row);
        after = row.id;
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
