/** SQL of storage.resumable_uploads and their parts, run with the service role. */
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { Project } from '../../projects/project';
import { SERVICE_ROLE } from '../../projects/project-keys';
import { ObjectAddress } from '../providers/object-store';
import { LIMITS, StoredRow } from '../rows/stored-row';
import { serviceContext, StorageTransaction } from '../storage-transaction';
import {
  MULTIPART,
  NewResumableUpload,
  ResumableUpload,
  toUpload,
  UPLOAD_COLUMNS,
  UploadPart,
} from './resumable-upload';

/** Maximum number of unfinished uploads of a project. */
export const MAX_UNFINISHED = 1_000;
/** Maximum number of unfinished uploads of one owner, so that others find room. */
const MAX_OF_OWNER = 250;
/** Maximum number of parts of an upload: small requests must not fill the tables. */
const MAX_PARTS = 10_000;
/** The lifetime of an upload; the same as in Supabase. */
const VALIDITY = '1 day';
/** Lifetime of a claim. It is renewed while the parts are joined, so that another process continues after a crash. */
const JOIN_TIME = '10 seconds';
/** Maximum bytes of the rows of all parts. */
const MAX_PART_ROWS = 4 * 1024 * 1024;

@Injectable()
export class ResumableUploadRepository {
  constructor(private readonly door: StorageTransaction) {}

  /**
   * @param maxBytes of all unfinished uploads together; null for no limit
   * @returns when it expires; null if the project has MAX_UNFINISHED uploads, or no room
   */
  async insert(project: Project, upload: NewResumableUpload, maxBytes: number | null): Promise<Date | null> {
    const { id, uploadMetadata, concat, upsert, owner, length } = upload;
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:insert-resumable',
      text: `insert into storage.resumable_uploads
          (id, upload_metadata, concat, upsert, role, subject, length, expires_at)
        select $1, $2, $3, $4, $5, $6, $7::bigint, now() + interval '${VALIDITY}'
        from (select count(*) as uploads, coalesce(sum(u.length), 0) as bytes,
            count(*) filter (where u.role = $5 and u.subject is not distinct from $6) as of_owner
          from storage.resumable_uploads u where u.completed_at is null and u.expires_at > now()) unfinished
        where unfinished.uploads < ${MAX_UNFINISHED} and ($5 = '${SERVICE_ROLE}' or unfinished.of_owner < ${MAX_OF_OWNER}) and ($8::bigint is null or unfinished.bytes + $7::bigint <= $8)
        returning expires_at`,
      values: [id, uploadMetadata, concat, upsert, owner.role, owner.subject, length, maxBytes],
    });
    return rows[0] ? new StoredRow('resumable_uploads', rows[0]).instant('expires_at') : null;
  }

  /** Null if there is no such upload, or it has expired. */
  async find(project: Project, id: string, isMultipart = false): Promise<ResumableUpload | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:find-resumable',
      text: `select ${UPLOAD_COLUMNS} from storage.resumable_uploads
        where id = $1 and expires_at > now() and (concat is not distinct from '${MULTIPART}') = $2`,
      values: [id, isMultipart],
    });
    return rows[0] ? toUpload(rows[0]) : null;
  }

  /** Adds stored parts, if no other request has added bytes since. @returns false if the offset has changed */
  async append(
    project: Project,
    id: string,
    parts: readonly [UploadPart, ...UploadPart[]],
  ): Promise<boolean> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:append-resumable',
      text: `with parts as (select * from unnest($3::bigint[], $4::bigint[], $5::uuid[]) p(start, size, object_id)),
        grown as (update storage.resumable_uploads u set received = u.received + (select sum(size) from parts)
          where u.id = $1 and u.received = $2 and u.completed_at is null
            and (select count(*) from storage.resumable_parts where upload_id = $1) < ${MAX_PARTS} returning u.id)
        insert into storage.resumable_parts (upload_id, start, size, object_id)
          select grown.id, parts.* from grown, parts returning start`,
      values: [
        id,
        parts[0].start,
        parts.map(({ start }) => start),
        parts.map(({ size }) => size),
        parts.map(({ address }) => address.objectId),
      ],
    });
    return rows.length > 0;
  }

  /**
   * Makes a request the only writer: bytes of other requests are refused from now on.
   * @returns the last part, to which the request may add; null if another request may still write the object of that
   * part, or if altered rows give it the object of a file; undefined if the upload does not have `received` bytes
   */
  async takeOver(
    project: Project,
    id: string,
    received: number,
    writer: string,
  ): Promise<UploadPart | null | undefined> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:take-over-resumable',
      text: `with held as (select id, writer, received from storage.resumable_uploads
            where id = $1 and received = $2 and completed_at is null and expires_at > now() for update),
          taken as (update storage.resumable_uploads u set writer = $3 from held where u.id = held.id returning u.id)
        select p.start, p.size, p.object_id from held left join lateral (
          select * from storage.resumable_parts p where held.writer is null and p.upload_id = held.id
            order by p.start desc limit 1) p on p.start + p.size = held.received
            and not exists (select from storage.files f where f.object_id = p.object_id)`,
      values: [id, received, writer],
    });
    if (!rows[0]) return undefined;
    const row = new StoredRow('resumable_parts', rows[0]);
    if (row.isNull('object_id')) return null;
    return {
      address: new ObjectAddress(project.id, row.objectId('object_id')),
      start: row.wholeNumber('start'),
      size: row.wholeNumber('size'),
    };
  }

  /**
   * Adds bytes to the part of a request.
   * @param part the part before
   * @param size the size of the part now
   * @param isLast whether another request may continue the object
   * @returns false if another request has taken over
   */
  async grow(
    project: Project,
    id: string,
    part: UploadPart,
    size: number,
    writer: string,
    isLast: boolean,
  ): Promise<boolean> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:grow-resumable',
      text: `with grown as (update storage.resumable_uploads u
            set received = $2::bigint + $5::bigint, writer = case when $6 then null else $7::uuid end
          where u.id = $1 and u.received = $2::bigint + $3::bigint and u.completed_at is null
            and (u.received = 0 or u.writer = $7::uuid)
            and (select count(*) from storage.resumable_parts where upload_id = $1) < ${MAX_PARTS} returning u.id)
        insert into storage.resumable_parts as p (upload_id, start, size, object_id)
          select grown.id, $2, $5, $4 from grown
          on conflict (upload_id, start) do update set size = excluded.size where p.object_id = excluded.object_id
          returning start`,
      values: [id, part.start, part.size, part.address.objectId, size, isLast, writer],
    });
    return rows.length > 0;
  }

  /** Lets another request continue with the object of a failed request that no longer writes. */
  async release(project: Project, id: string, writer: string): Promise<void> {
    await this.door.query(serviceContext(project), {
      name: 'storage:release-resumable',
      text: 'update storage.resumable_uploads set writer = null where id = $1 and writer = $2',
      values: [id, writer],
    });
  }

  /** Uploads in numbered parts that are not complete, the oldest first. */
  async listMultipart(project: Project): Promise<ResumableUpload[]> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:list-multipart',
      text: `select ${UPLOAD_COLUMNS} from storage.resumable_uploads
        where concat = '${MULTIPART}' and completed_at is null and expires_at > now() order by created_at, id limit ${MAX_UNFINISHED}`,
      values: [],
      maxBytes: MAX_PART_ROWS,
    });
    return rows.map(toUpload);
  }

  /**
   * Adds a numbered part, or replaces it.
   * @param maxBytes of all unfinished uploads together; null for no limit
   * @returns the object that it replaces; `no_room`; or `gone` if the upload is complete or being completed
   */
  async addPart(
    project: Project,
    id: string,
    { start, size, address, etag }: UploadPart,
    maxBytes: number | null,
  ): Promise<{ readonly replaced: ObjectAddress | null } | 'no_room' | 'gone'> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:add-numbered-part',
      text: `with open as (select id from storage.resumable_uploads where id = $1 and completed_at is null and expires_at > now()
            and (joining_until is null or joining_until < now()) for update),
        old as (select p.size, p.object_id from storage.resumable_parts p, open where p.upload_id = open.id and p.start = $2),
        grown as (update storage.resumable_uploads u set expires_at = now() + interval '${VALIDITY}',
            length = u.length + $3::bigint - coalesce((select size from old), 0),
            received = u.length + $3::bigint - coalesce((select size from old), 0)
          from open where u.id = open.id and ($6::bigint is null or $3::bigint +
            (select coalesce(sum(o.length), 0) from storage.resumable_uploads o
              where o.completed_at is null and o.expires_at > now()) <= $6) returning u.id),
        added as (insert into storage.resumable_parts (upload_id, start, size, object_id, etag)
          select grown.id, $2, $3, $4, $5 from grown
          on conflict (upload_id, start) do update set size = excluded.size, object_id = excluded.object_id, etag = excluded.etag
          returning start)
        select (select object_id from old) as replaced, exists (select from added) as is_added from open`,
      values: [id, start, size, address.objectId, etag, maxBytes],
    });
    if (!rows[0]) return 'gone';
    const row = new StoredRow('resumable_parts', rows[0]);
    if (!row.boolean('is_added')) return 'no_room';
    return {
      replaced: row.isNull('replaced') ? null : new ObjectAddress(project.id, row.objectId('replaced')),
    };
  }

  /**
   * Moves the parts of complete partial uploads, in this order, to a new upload.
   * @returns false if one of them is not complete
   */
  async takeParts(project: Project, id: string, partials: readonly string[]): Promise<boolean> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:concat-resumable',
      text: `with found as (select id from storage.resumable_uploads where id = any($2::uuid[]) and concat = 'partial'
            and received = length
            and (select count(*) from storage.resumable_parts where upload_id = any($2::uuid[])) <= ${MAX_PARTS} for update),
        taken as (delete from storage.resumable_uploads where id in (select id from found)
          and (select count(*) from found) = cardinality($2::uuid[]) returning id, length),
        placed as (select t.id, sum(t.length) over (order by o.place) - t.length as before
          from taken t join unnest($2::uuid[]) with ordinality o(id, place) on o.id = t.id),
        moved as (update storage.resumable_parts p set upload_id = $1, start = placed.before + p.start
          from placed where p.upload_id = placed.id)
        update storage.resumable_uploads set received = length
          where id = $1 and exists (select 1 from taken) returning id`,
      values: [id, partials],
    });
    return rows.length > 0;
  }

  /**
   * Claims a complete upload for the process that joins its parts, which has to renew the claim.
   * @param object the object that it will write
   * @returns the object that an interrupted process wrote, or null; undefined if another process holds the claim
   */
  async claim(project: Project, id: string, object: ObjectAddress): Promise<string | null | undefined> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:claim-resumable',
      text: `with held as (select id, object_id from storage.resumable_uploads where id = $1 and received = length
            and completed_at is null and (joining_until is null or joining_until < now()) for update)
        update storage.resumable_uploads u set joining_until = now() + interval '${JOIN_TIME}', object_id = $2
          from held where u.id = held.id returning (select f.object_id from storage.files f where f.object_id = held.object_id)
            as published`,
      values: [id, object.objectId],
    });
    if (!rows[0]) return undefined;
    const row = new StoredRow('resumable_uploads', rows[0]);
    return row.isNull('published') ? null : row.objectId('published');
  }

  /** Renews a claim, or releases it. */
  async renew(project: Project, id: string, object: ObjectAddress, goesOn: boolean): Promise<void> {
    await this.door.query(serviceContext(project), {
      name: 'storage:renew-resumable',
      text: `update storage.resumable_uploads set joining_until = case when $3 then now() + interval '${JOIN_TIME}' end
        where id = $1 and object_id = $2`,
      values: [id, object.objectId, goesOn],
    });
  }

  async parts(project: Project, id: string): Promise<UploadPart[]> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:parts-of-resumable',
      text: `select start, size, object_id, etag from storage.resumable_parts where upload_id = $1
        order by start limit ${MAX_PARTS + 1}`,
      values: [id],
      maxBytes: MAX_PART_ROWS,
    });
    return rows.map((found) => {
      const row = new StoredRow('resumable_parts', found);
      return {
        address: new ObjectAddress(project.id, row.objectId('object_id')),
        start: row.wholeNumber('start'),
        size: row.wholeNumber('size'),
        etag: row.textOrNull('etag', LIMITS.etag),
      };
    });
  }

  /** Call it when the file is visible. @returns the addresses of the parts' objects, which nothing refers to any longer */
  complete(project: Project, id: string): Promise<ObjectAddress[]> {
    return this.removeParts(
      project,
      id,
      `update storage.resumable_uploads set completed_at = now(), joining_until = null where id = $1`,
    );
  }

  /** @returns the addresses of the parts' objects, which nothing refers to any longer */
  remove(project: Project, id: string): Promise<ObjectAddress[]> {
    return this.removeParts(project, id, 'delete from storage.resumable_uploads where id = $1');
  }

  /** Removes uploads that have expired. Their objects no longer have a row, so the sweep removes them. */
  async removeExpired(project: Project): Promise<void> {
    await this.door.query(serviceContext(project), {
      name: 'storage:expired-resumable',
      text: 'delete from storage.resumable_uploads where expires_at < now()',
    });
  }

  /** The ids of those given objects that are parts of an upload, or renditions. */
  async partsAmong(project: Project, objectIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:parts-among',
      text: `select object_id from storage.resumable_parts where object_id = any($1::uuid[])
        union all select object_id from storage.renditions where object_id = any($1::uuid[])`,
      values: [objectIds],
    });
    return new Set(rows.map((row) => new StoredRow('resumable_parts', row).objectId('object_id')));
  }

  private async removeParts(project: Project, id: string, change: string): Promise<ObjectAddress[]> {
    const { rows } = await this.door.query(serviceContext(project), {
      text: `with gone as (delete from storage.resumable_parts where upload_id = $1 returning object_id),
        changed as (${change}) select g.object_id from gone g
          where not exists (select from storage.files f where f.object_id = g.object_id)`,
      values: [id],
      maxBytes: MAX_PART_ROWS,
    });
    return rows.map(
      (row) => new ObjectAddress(project.id, new StoredRow('resumable_parts', row).objectId('object_id')),
    );
  }
}
