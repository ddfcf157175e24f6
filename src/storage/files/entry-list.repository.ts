/**
 * Lists a folder as a file manager shows it: first the folders directly below it, then its files, one page in one round trip.
 * FileListRepository lists the records of a whole bucket.
 */
import { Injectable } from '@nestjs/common';
import type { Statement } from '../../database/statement';
import { BUCKET_BY_ADDRESS } from '../buckets/bucket.repository';
import { LIMITS, MAX_PAGE, StoredRow } from '../rows/stored-row';
import { bucketNotFound } from '../storage.errors';
import { StorageContext, StorageTransaction } from '../storage-transaction';
import { s3Etag } from './file';
import { escapeLike, LAST } from './file-list.repository';
import type { SortDirection } from './list-options';

export const ENTRY_SORTS = ['name', 'created_at', 'updated_at'] as const;
export type EntrySort = (typeof ENTRY_SORTS)[number];

export interface EntryQuery {
  /** Slug or name. */
  readonly bucket: string;
  /** Text that the names begin with. */
  readonly prefix: string;
  /** Text that the names contain after the prefix, at the beginning of that part; not case-sensitive. */
  readonly search: string;
  /** Files below a further `/` are shown as one folder. */
  readonly groupsFolders: boolean;
  readonly sortBy: EntrySort;
  readonly sortDir: SortDirection;
  readonly limit: number;
  readonly offset: number;
  readonly after: EntryKey | null;
}

/** Lists folders and files in one order, as the S3 protocol does. */
export interface MixedQuery extends Pick<EntryQuery, 'bucket' | 'prefix' | 'limit'> {
  /** A single character, at which names are cut off; null for none. */
  readonly delimiter: string | null;
  /** The last entry before the page, a folder with its delimiter. */
  readonly after: { readonly name: string; readonly isFolder: boolean } | null;
}

/** The position of an entry in its list. */
export interface EntryKey {
  readonly isFolder: boolean;
  /** The value that the list is sorted by, as PostgreSQL prints it. */
  readonly key: string;
  readonly name: string;
}

export interface Entry extends EntryKey {
  /** Null for a folder, whose name ends with `/`. */
  readonly file: Readonly<ReturnType<typeof toFile>> | null;
}

@Injectable()
export class EntryListRepository {
  constructor(private readonly door: StorageTransaction) {}

  /** The entries of a folder. @throws AppError 404 when there is no such bucket, or the caller may not see it */
  async list(caller: StorageContext, query: EntryQuery): Promise<Entry[]> {
    const rows = await this.rowsOf(caller, query.bucket, {
      name: `storage:entries:${query.groupsFolders}:${query.sortBy}:${query.sortDir}:${query.search === ''}`,
      text: textOf(query),
      values: valuesOf(query),
    });
    return rows.map(toEntry);
  }

  /**
   * Names of the folders directly below a prefix, in order; one index lookup each.
   * @param after the last folder of the previous page, or empty
   * @throws AppError 404 as list()
   */
  async folders(
    caller: StorageContext,
    { bucket, prefix, limit, after }: { bucket: string; prefix: string; limit: number; after: string },
  ): Promise<string[]> {
    const from = after === '' ? prefix : `${after.slice(0, -1)}0`;
    const rows = await this.rowsOf(caller, bucket, {
      name: 'storage:list-folders',
      text: FOLDERS,
      values: [bucket, prefix, prefix + LAST, from, limit],
    });
    return rows.map((row) => new StoredRow('files', row).text('name', LIMITS.filename));
  }

  /** Folders and files in a common order. @throws AppError 404 as list() */
  async listMixed(caller: StorageContext, query: MixedQuery): Promise<Entry[]> {
    const { bucket, prefix, limit, delimiter, after } = query;
    const following = delimiter === null ? null : String.fromCodePoint((delimiter.codePointAt(0) ?? 0) + 1);
    const rows = await this.rowsOf(caller, bucket, {
      name: `storage:mixed-entries:${delimiter !== null}`,
      text: delimiter === null ? FLAT : MIXED,
      values: [
        bucket,
        prefix,
        prefix + LAST,
        limit,
        after?.isFolder ?? null,
        after?.name ?? null,
        ...(delimiter === null ? [] : [delimiter, following]),
      ],
    });
    return rows.map(toEntry);
  }

  /** The rows of a statement about a bucket, which the caller must see. */
  private async rowsOf(caller: StorageContext, bucket: string, statement: Statement): Promise<unknown[]> {
    const [found, page] = await this.door.batch(caller, [
      { name: 'storage:list-bucket', text: `select slug from ${BUCKET_BY_ADDRESS}`, values: [bucket] },
      { ...statement, maxBytes: MAX_PAGE },
    ]);
    if (!found?.rows.length) throw bucketNotFound();
    return page?.rows ?? [];
  }
}

const isByName = ({ groupsFolders, sortBy, sortDir, search }: EntryQuery): boolean =>
  groupsFolders && sortBy === 'name' && sortDir === 'asc' && search === '';

/**
 * $1 bucket, $2 prefix, $3 the upper bound of names, $4 limit, $5 offset. Of the entry before the page: $6
 * whether it is a folder, null if there is no such entry; $7 its name. Only if the index does not give the
 * order: $8 its key, $9 the pattern of the search.
 */
function valuesOf(query: EntryQuery): unknown[] {
  const { bucket, prefix, search, limit, offset, after } = query;
  const pattern = `${escapeLike(search)}%`;
  return [
    bucket,
    prefix,
    prefix + LAST,
    limit,
    offset,
    after?.isFolder ?? null,
    after?.name ?? null,
    ...(isByName(query) ? [] : [after?.key ?? null, pattern]),
  ];
}

function textOf(query: EntryQuery): string {
  const { sortBy, sortDir } = query;
  const entries = isByName(query) ? BY_NAME : sorted(query);
  const order = `e.is_folder desc, ${sortBy === 'name' ? '' : `e.key ${sortDir}, `}e.name ${sortDir}`;
  return `with recursive bucket as materialized (select id from ${BUCKET_BY_ADDRESS}), ${entries}
    select e.name, e.is_folder, ${sortBy === 'name' ? 'e.name' : `to_json(e.key) #>> '{}'`} as key, f.id, f.content_type, f.size,
        f.sha256, f.cache_control, f.created_at, f.updated_at
      from entry e left join storage.files f
        on not e.is_folder and f.bucket_id = (select id from bucket) and f.filename = e.name
      where e.is_folder or f.id is not null
      order by ${order}`;
}

/** The range of names, compared as a pair: see FileListRepository. */
const inRange = (
  from: string,
): string => `(f.bucket_id, f.filename) >= ((select id from bucket), ${from} collate "C")
  and (f.bucket_id, f.filename) < ((select id from bucket), $3 collate "C")`;

/** Length of the first folder in the name after the prefix, including its slash; 0 for a file in this folder. */
const FOLDER_LENGTH = `strpos(substr(f.filename, length($2) + 1), '/')`;

/**
 * The first entry at or after a bound, and the bound of the next one. `0` is the code point after `/`, and no
 * name sorts between a name and the same name followed by the code point 1.
 */
const firstEntry = (bound: string, { length = FOLDER_LENGTH, next = `'0'`, where = '' }: Steps): string => `
  select case when at > 0 then left(filename, length($2) + at) else filename end as name, at > 0 as is_folder,
      case when at > 0 then left(filename, length($2) + at - 1) || ${next} else filename || chr(1) end as next
    from (select f.filename, ${length} as at from storage.files f where ${inRange(bound)} ${where}
      order by f.bucket_id, f.filename limit 1) f`;

interface Steps {
  /** SQL of the length of the first folder. */
  readonly length?: string;
  /** SQL of the code point after the delimiter. */
  readonly next?: string;
  /** A further condition, with `and`. */
  readonly where?: string;
}

/**
 * A loose index scan: each step costs one lookup, however many files a folder contains. The previous step computes the bound:
 * functions in the condition that are not leakproof would run after the policies (PostgreSQL manual, 41.5), so each step would
 * read all names from the first one on.
 */
const steps = (name: string, from: string, more: Steps = {}): string => `
  ${name} (name, is_folder, next) as (
    select * from (${firstEntry(from, more)}) first
    union all
    select following.* from ${name} cross join lateral (${firstEntry(`${name}.next`, more)}) following)`;

/** $1 to $3 as in valuesOf(); $4 where the page begins, $5 limit. */
const FOLDERS = `with recursive bucket as materialized (select id from ${BUCKET_BY_ADDRESS}),
  ${steps('folders', '$4', { where: `and ${FOLDER_LENGTH} > 0` })}
  select name from folders limit $5`;

const mixed = (entries: string): string => `
  with recursive bucket as materialized (select id from ${BUCKET_BY_ADDRESS}), ${entries}
  select e.name, e.is_folder, e.name as key, f.id, f.content_type, f.size, f.sha256, f.cache_control, f.created_at, f.updated_at,
      f.object_id, f.s3_etag
    from entry e left join storage.files f
      on not e.is_folder and f.bucket_id = (select id from bucket) and f.filename = e.name
    where e.is_folder or f.id is not null
    order by e.name`;

/** $1 to $4 as in valuesOf(); $5 whether the entry before the page is a folder, null if there is no such entry; $6 its name. */
const FLAT = mixed(`entry as materialized (
  select f.filename as name, false as is_folder from storage.files f
    where ${inRange(`greatest($2 collate "C", $6::text || case when $5::boolean then '' else chr(1) end)`)}
    order by f.bucket_id, f.filename limit $4)`);

/** The same, with the delimiter as $7 and the code point after the delimiter as $8. */
const MIXED = mixed(`${steps(
  'entries',
  `greatest($2 collate "C", case when $5::boolean then left($6::text, -1) || $8 when not $5 then $6 || chr(1) end)`,
  { length: `strpos(substr(f.filename, length($2) + 1), $7)`, next: '$8' },
)},
  entry as materialized (select name, is_folder from entries limit $4)`);

/** Folders and files in the order of their names. A page that follows a file has no folders. */
const BY_NAME = `
  ${steps('folders', `case when $6::boolean then left($7::text, -1) || '0' when not $6 then $3 else $2 end`)},
  ${steps('files', `case when not $6 then $7 || chr(1) else $2 end`)},
  entry as materialized (
    select name, is_folder from (
      (select name, true as is_folder from folders where is_folder limit $4::bigint + $5::bigint)
      union all
      (select name, false from files where not is_folder limit $4::bigint + $5::bigint)) e
    limit $4 offset $5)`;

/** The other orders read all names in the folder. The time of a folder is the earliest time of its files. */
function sorted({ groupsFolders, sortBy, sortDir }: EntryQuery): string {
  const column = sortBy === 'name' ? 'filename' : sortBy;
  const type = sortBy === 'name' ? 'text' : 'timestamptz';
  const folder = groupsFolders ? FOLDER_LENGTH : '0';
  const key = sortBy === 'name' ? 'name' : 'key';
  const beyond = sortDir === 'asc' ? '>' : '<';
  return `entry as materialized (
    select * from (
      select case when at > 0 then left(filename, length($2) + at) else filename end as name, at > 0 as is_folder,
          min(key) as key
        from (select f.filename, f.${column} as key, ${folder} as at from storage.files f where ${inRange('$2')}) f
        where substr(filename, length($2) + 1) collate "default" ilike $9
        group by 1, 2) e
    where $6::boolean is null
      or (not is_folder and $6)
      or (is_folder = $6 and (${key}, name) ${beyond} ($8::text::${type}, $7::text))
    order by is_folder desc, ${key} ${sortDir}, name ${sortDir}
    limit $4::bigint offset $5::bigint)`;
}

function toEntry(found: unknown): Entry {
  const row = new StoredRow('files', found);
  const isFolder = row.boolean('is_folder');
  return {
    name: row.text('name', LIMITS.filename + 1),
    key: row.text('key', LIMITS.filename + 1),
    isFolder,
    file: isFolder ? null : toFile(row),
  };
}

function toFile(row: StoredRow) {
  return {
    id: row.uuid('id'),
    content_type: row.text('content_type', LIMITS.contentType, 0),
    size: row.wholeNumber('size'),
    sha256: row.sha256('sha256'),
    /** The entity tag of the S3 protocol; undefined in lists of other surfaces. */
    etag: row.has('s3_etag') ? s3Etag(row) : undefined,
    cache_control: row.textOrNull('cache_control', LIMITS.cacheControl),
    /** ISO 8601. */
    created_at: row.instant('created_at').toISOString(),
    updated_at: row.instant('updated_at').toISOString(),
  };
}
