/** SQL of storage.renditions, run with the service role. */
import { Injectable } from '@nestjs/common';
import { Project } from '../../projects/project';
import { StoredBytes } from '../files/file';
import { ObjectAddress } from '../providers/object-store';
import { LIMITS, StoredRow } from '../rows/stored-row';
import { serviceContext, StorageTransaction } from '../storage-transaction';

/** Maximum number of renditions of a project. They do not count against a quota. */
const MAX_RENDITIONS = 10_000;
const MAX_BYTES = 1024 * 1024 * 1024;
/** Number of renditions that are removed together to make room. */
const REMOVAL_BATCH = MAX_RENDITIONS / 10;
/** A rendition of this age is removed. It is made again if it is requested again. */
const MAX_AGE = '30 days';

@Injectable()
export class RenditionRepository {
  constructor(private readonly door: StorageTransaction) {}

  async findRendition(project: Project, source: ObjectAddress, options: string): Promise<StoredBytes | null> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:find-rendition',
      text: `select object_id, content_type, size, sha256 from storage.renditions
        where source_id = $1 and options = $2`,
      values: [source.objectId, options],
    });
    if (!rows[0]) return null;
    const row = new StoredRow('renditions', rows[0]);
    return {
      address: new ObjectAddress(project.id, row.objectId('object_id')),
      contentType: row.text('content_type', LIMITS.contentType),
      size: row.wholeNumber('size'),
      sha256: row.sha256('sha256'),
    };
  }

  /** Replaces an older row, whose bytes are left to the sweep. @returns false if the project has no room */
  async insertRendition(
    project: Project,
    source: ObjectAddress,
    options: string,
    { address, contentType, size, sha256 }: StoredBytes,
  ): Promise<boolean> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:insert-rendition',
      text: `insert into storage.renditions as r (source_id, options, object_id, content_type, size, sha256)
        select $1, $2, $3, $4, $5::bigint, $6
        from (select count(*) as pictures, coalesce(sum(k.size), 0) as bytes from storage.renditions k) kept
        where kept.pictures < ${MAX_RENDITIONS} and kept.bytes + $5::bigint <= ${MAX_BYTES}
        on conflict (source_id, options) do update set object_id = excluded.object_id,
          content_type = excluded.content_type, size = excluded.size, sha256 = excluded.sha256, created_at = now()
        returning r.object_id`,
      values: [source.objectId, options, address.objectId, contentType, size, sha256],
    });
    return rows.length > 0;
  }

  /** Makes room for further renditions. @returns the addresses of the objects, which nothing refers to any longer */
  async removeOldest(project: Project): Promise<ObjectAddress[]> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:oldest-renditions',
      text: `delete from storage.renditions where object_id in (select object_id from storage.renditions
        order by created_at limit ${REMOVAL_BATCH}) returning object_id`,
    });
    return rows.map(
      (row) => new ObjectAddress(project.id, new StoredRow('renditions', row).objectId('object_id')),
    );
  }

  /** Removes old renditions, and renditions of deleted files. Their objects no longer have a row, so the sweep removes them. */
  async removeExpired(project: Project): Promise<void> {
    await this.door.query(serviceContext(project), {
      name: 'storage:expired-renditions',
      text: `delete from storage.renditions r where r.created_at < now() - interval '${MAX_AGE}'
        or not exists (select from storage.files f where f.object_id = r.source_id)`,
    });
  }
}
