/** Lists the files of a bucket: page, total and the bucket itself in one round trip. */
import { Injectable } from '@nestjs/common';
import { Statement } from '../../database/pools/pipelined-query';
import { BUCKET_BY_ADDRESS } from '../buckets/bucket.repository';
import { FileRecord } from './file';
import { FILE_COLUMNS, FileRow, toFileRecord } from './file.repository';
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
  readonly files: FileRecord[];
  /** Files that match, on all pages; null when the page continues another. */
  readonly total: number | null;
  /** Where the next page begins; null after the last one. */
  readonly next: { readonly key: string; readonly id: string } | null;
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
    const [bucket, page, count] = await this.door.batch(caller, [
      {
        name: 'storage:list-bucket',
        text: `select slug from ${BUCKET_BY_ADDRESS}`,
        values: [query.bucket],
      },
      pageStatement(query),
      ...(query.after ? [] : [countStatement(query)]),
    ]);
    const found = bucket?.rows[0] as { slug: string } | undefined;
    if (!found) return null;
    const rows = page?.rows as (FileRow & { key: string })[];
    const shown = rows.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      files: shown.map((row) => toFileRecord({ ...row, bucket_slug: found.slug })),
      total: count ? Number((count.rows[0] as { total: string }).total) : null,
      next: rows.length > query.limit && last ? { key: last.key, id: last.id } : null,
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
  private readonly terms = [`f.bucket_id = (select id from ${BUCKET_BY_ADDRESS})`];
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

function pageStatement(query: ListQuery): Statement {
  const conditions = new Conditions(query);
  const { column, key } = SORT[query.sortBy];
  // One row more than asked for tells whether a further page follows.
  const limit = conditions.parameter(query.limit + 1);
  const offset = conditions.parameter(query.offset);
  return {
    name: `storage:list:${conditions.name}:${query.sortBy}:${query.sortDir}`,
    text: `select ${FILE_COLUMNS}, ${key} as key from storage.files f where ${conditions.text}
      order by ${column} ${query.sortDir}, f.id ${query.sortDir} limit ${limit} offset ${offset}`,
    values: conditions.values,
  };
}

function countStatement(query: ListQuery): Statement {
  const conditions = new Conditions(query);
  return {
    name: `storage:count:${conditions.name}`,
    text: `select count(*) as total from storage.files f where ${conditions.text}`,
    values: conditions.values,
  };
}

/** A search is plain text: what LIKE would read as a wildcard stands for itself (PostgreSQL manual, 9.7.1). */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
