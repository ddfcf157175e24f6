/** Lists the files of a bucket: page, total and the bucket itself in one round trip. */
import { Injectable } from '@nestjs/common';
import { Statement } from '../../database/pools/pipelined-query';
import { JsonText } from '../../common/text/json';
import { BUCKET_BY_ADDRESS } from '../buckets/bucket.repository';
import { SortDirection, SortField } from './list-options';
import { StorageContext, StorageTransaction } from '../storage-transaction';

export interface ListQuery {
  /** Slug or name. */
  readonly bucket: string;
  /** Plain text that the name must contain, in whatever case. */
  readonly search?: string;
  /** Text that the name must begin with. */
  readonly prefix?: string;
  /** Only names without a further `/` after the prefix. */
  readonly directChildren: boolean;
  readonly sortBy: SortField;
  readonly sortDir: SortDirection;
  readonly limit: number;
  readonly offset: number;
  /** Continues after this row; the total is not counted then. */
  readonly after?: { readonly key: string; readonly id: string };
}

export interface FilePage {
  /** A list of FileRecord, as PostgreSQL writes it. */
  readonly files: JsonText;
  /** Files that match, on all pages; null when the page continues another. */
  readonly total: number | null;
  /** Where the next page begins; null after the last one. */
  readonly next: { readonly key: string; readonly id: string } | null;
}

interface PageRow {
  readonly files: string;
  /** PostgreSQL's bigint, which the driver leaves as text. */
  readonly total: string | null;
  readonly key: string | null;
  readonly id: string | null;
}

/** By sort field: the column, the type of its key in a cursor, and the key's text without loss. */
const SORT: Readonly<Record<SortField, { column: string; type: string; key: string }>> = {
  created_at: { column: 'f.created_at', type: 'timestamptz', key: `to_json(f.created_at) #>> '{}'` },
  size: { column: 'f.size', type: 'bigint', key: 'f.size::text' },
  filename: { column: 'f.filename', type: 'text', key: 'f.filename' },
};

/** Sorts after every name that begins with the prefix: the last code point. */
const LAST_CODE_POINT = '\u{10ffff}';

@Injectable()
export class FileListRepository {
  constructor(private readonly door: StorageTransaction) {}

  /** Null when there is no such bucket, or none that the caller may see. */
  async list(caller: StorageContext, query: ListQuery): Promise<FilePage | null> {
    const { rows } = await this.door.query(caller, pageStatement(query));
    const page = rows[0] as PageRow | undefined;
    if (!page) return null;
    return {
      files: new JsonText(page.files),
      total: page.total === null ? null : Number(page.total),
      next: page.key === null || page.id === null ? null : { key: page.key, id: page.id },
    };
  }

  /**
   * Names of the folders right below a prefix, in order; one look-up in the index each.
   * @param after the last folder of the page before, or empty
   */
  async folders(
    caller: StorageContext,
    { bucket, prefix, limit, after }: { bucket: string; prefix: string; limit: number; after: string },
  ): Promise<string[] | null> {
    const [found, names] = await this.door.batch(caller, [
      { name: 'storage:list-bucket', text: `select slug from ${BUCKET_BY_ADDRESS}`, values: [bucket] },
      {
        name: 'storage:list-folders',
        text: FOLDERS,
        values: [
          bucket,
          prefix,
          prefix + LAST_CODE_POINT,
          after === '' ? prefix : `${after.slice(0, -1)}0`,
          limit,
        ],
      },
    ]);
    if (!found?.rows.length) return null;
    return (names?.rows as { folder: string }[]).map((row) => row.folder);
  }
}

/**
 * A loose index scan: each step jumps to the first name after the folder that was found. `0` is the code point after `/`.
 * A step that meets a file right below the prefix goes on behind that.
 */
const FOLDERS = `
  with recursive bucket as (select id from ${BUCKET_BY_ADDRESS}),
  step (name, folder) as (
    (select f.filename, case when strpos(substr(f.filename, length($2) + 1), '/') > 0
         then $2 || split_part(substr(f.filename, length($2) + 1), '/', 1) || '/' end
       from storage.files f
       where f.bucket_id = (select id from bucket) and f.filename >= $4 collate "C" and f.filename < $3 collate "C"
         and strpos(substr(f.filename, length($2) + 1), '/') > 0
       order by f.filename limit 1)
    union all
    select next.filename, next.folder from step cross join lateral (
      select f.filename, $2 || split_part(substr(f.filename, length($2) + 1), '/', 1) || '/' as folder
        from storage.files f
        where f.bucket_id = (select id from bucket)
          and f.filename >= (left(step.folder, -1) || '0') collate "C" and f.filename < $3 collate "C"
          and strpos(substr(f.filename, length($2) + 1), '/') > 0
        order by f.filename limit 1) next
    where step.folder is not null
  )
  select folder from step limit $5`;

/** Names and order of the conditions come from here; all values are parameters. */
class Conditions {
  readonly values: unknown[];
  private readonly terms = ['f.bucket_id = (select id from bucket)'];
  private tag = '';

  constructor(query: ListQuery) {
    this.values = [query.bucket];
    if (query.search !== undefined && query.search !== '') {
      this.add('s', `f.filename collate "default" ilike ${this.parameter(`%${escapeLike(query.search)}%`)}`);
    }
    if (query.prefix !== undefined && query.prefix !== '') {
      const [from, to] = [this.parameter(query.prefix), this.parameter(query.prefix + LAST_CODE_POINT)];
      this.add('p', `f.filename >= ${from} collate "C" and f.filename < ${to} collate "C"`);
    }
    if (query.directChildren) {
      const prefix = this.parameter(query.prefix ?? '');
      this.add('d', `strpos(substr(f.filename, length(${prefix}) + 1), '/') = 0`);
    }
    if (query.after) {
      const { column, type } = SORT[query.sortBy];
      const comparison = query.sortDir === 'asc' ? '>' : '<';
      const [key, id] = [this.parameter(query.after.key), this.parameter(query.after.id)];
      this.add('a', `(${column}, f.id) ${comparison} (${key}::${type}, ${id}::uuid)`);
    }
  }

  get text(): string {
    return this.terms.join(' and ');
  }

  /** Tells this combination from the others, for the names of prepared statements. */
  get name(): string {
    return this.tag;
  }

  parameter(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  private add(tag: string, term: string): void {
    this.tag += tag;
    this.terms.push(term);
  }
}

/** A timestamp as Date.toISOString() writes it. */
const isoText = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column.slice('f.'.length)}`;

/** The members of a FileRecord, in its order. */
const RECORD_MEMBERS = `id, bucket_id, bucket_slug, filename, content_type, size, sha256, owner_id, metadata, created_at,
  updated_at`;

/** One row more than is shown tells whether a further page follows. */
function pageStatement(query: ListQuery): Statement {
  const conditions = new Conditions(query);
  const { column, key } = SORT[query.sortBy];
  const limit = `${conditions.parameter(query.limit)}::bigint`;
  const offset = conditions.parameter(query.offset);
  const total = `(select count(*) from storage.files f where ${conditions.text})`;
  return {
    name: `storage:list:${conditions.name}:${query.sortBy}:${query.sortDir}`,
    text: `with bucket as materialized (select id, slug from ${BUCKET_BY_ADDRESS}),
      page as materialized (
        select f.id, f.bucket_id, (select slug from bucket) as bucket_slug, f.filename, f.content_type, f.size, f.sha256,
          f.owner_id, f.metadata, ${isoText('f.created_at')}, ${isoText('f.updated_at')}, ${key} as key
        from storage.files f where ${conditions.text}
        order by ${column} ${query.sortDir}, f.id ${query.sortDir} limit ${limit} + 1 offset ${offset}),
      last as (select id, key from page where ${limit} > 0 and (select count(*) from page) > ${limit}
        offset greatest(${limit} - 1, 0) limit 1)
      select coalesce((select json_agg(shown) from (select ${RECORD_MEMBERS} from page limit ${limit}) shown), '[]')::text
          as files, ${query.after ? 'null::bigint' : total} as total, last.key, last.id
        from bucket left join last on true`,
    values: conditions.values,
  };
}

/** A search is plain text: what LIKE would read as a wildcard stands for itself (PostgreSQL manual, 9.7.1). */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
