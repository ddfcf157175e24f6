/** Lists the files of a bucket: the bucket, the page and the total in one round trip. */
import { Inject, Injectable } from '@nestjs/common';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { Statement } from '../../database/statement';
import { ContextSettings } from '../../database/rls/rls-context';
import { BUCKET_BY_ADDRESS } from '../buckets/bucket.repository';
import { MAX_PAGE } from '../rows/stored-row';
import { ListOptions, MAX_LIMIT, SortDirection, SortField } from './list-options';
import { SCAN_RESULT } from './file';
import { FilePage, PageRows } from './file-page';
import { bucketNotFound } from '../storage.errors';
import { StorageContext, StorageTransaction } from '../storage-transaction';

interface ListQuery extends Pick<ListOptions, 'search' | 'prefix'> {
  /** Slug or name. */
  readonly bucket: string;
  /** Only names without a further `/` after the prefix. */
  readonly directChildren: boolean;
  readonly sortBy: SortField;
  readonly sortDir: SortDirection;
  /** At most MAX_LIMIT. */
  readonly limit: number;
  readonly offset: number;
  /** Continues after this row, without a total. */
  readonly after?: { readonly key: string; readonly id: string };
}

/** The column of each sort field, the type of its key in a cursor, and SQL for the key's exact text. */
const SORT: Readonly<Record<SortField, { column: string; type: string; key: string }>> = {
  created_at: { column: 'f.created_at', type: 'timestamptz', key: `to_json(created_at) #>> '{}'` },
  size: { column: 'f.size', type: 'bigint', key: 'size::text' },
  filename: { column: 'f.filename', type: 'text', key: 'filename' },
};

/** Appended to a prefix, it sorts after every name with that prefix: the highest code point, repeated. */
export const LAST = '\u{10ffff}'.repeat(256);

@Injectable()
export class FileListRepository {
  private readonly hasMark: boolean;

  constructor(
    private readonly door: StorageTransaction,
    @Inject(STORAGE_CONFIG) { clamd }: StorageConfig,
  ) {
    this.hasMark = clamd !== null;
  }

  /** @throws AppError 404 when there is no such bucket, or the caller may not see it */
  async list(caller: StorageContext, query: ListQuery): Promise<FilePage> {
    const rows = new PageRows(this.hasMark);
    const { statement, settings } = pageStatement(query, this.hasMark);
    await this.door.query(caller, { ...statement, sink: rows, maxBytes: MAX_PAGE }, settings);
    const page = rows.take();
    if (!page) throw bucketNotFound();
    return page;
  }
}

/** The conditions of a list. Their SQL is fixed; all values are parameters. */
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
      const [from, to] = [this.parameter(query.prefix), this.parameter(query.prefix + LAST)];
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

  /** Identifies this combination of conditions in the names of prepared statements. */
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

const PAGE_COLUMNS = `f.id, f.bucket_id, f.filename, f.content_type, f.size, f.sha256, f.owner_id, f.metadata, f.created_at,
  f.updated_at, f.object_id`;

/** The columns of a record in the order of PageRows, and as many nulls. */
const RECORD = `id, bucket_id, (select slug from bucket), filename, content_type, size, sha256, owner_id, metadata, created_at, updated_at`;
const NO_RECORD = 'null, null, null, null, null, null, null, null, null, null, null';

/**
 * Returns the rows that PageRows reads: one row with total and cursor, and one row for each file. Reads one
 * file more than the page shows, to know whether another page follows.
 *
 * Planning costs more than execution, because the policies are planned for each reference to a table. So a
 * plain page, whose plan depends on no value, uses a generic plan; the constant limit lets the planner expect
 * few rows. A search, a prefix and an offset are planned with their values.
 */
function pageStatement(
  query: ListQuery,
  hasMark: boolean,
): { statement: Statement; settings: ContextSettings } {
  const conditions = new Conditions(query);
  const { column, key } = SORT[query.sortBy];
  const jumps = query.offset > 0;
  const limit = `${conditions.parameter(query.limit)}::bigint`;
  const offset = jumps ? `${conditions.parameter(query.offset)}::bigint` : '0';
  const order = `order by ${column} ${query.sortDir}, f.id ${query.sortDir}`;
  const name = `${conditions.name}${jumps ? 'o' : ''}`;
  return {
    statement: {
      name: `storage:list:${name}:${query.sortBy}:${query.sortDir}`,
      text: `with bucket as materialized (select id, slug from ${BUCKET_BY_ADDRESS}),
        page as materialized (
          select * from (select ${PAGE_COLUMNS}${hasMark ? `, ${SCAN_RESULT}` : ''} from storage.files f where ${conditions.text} ${order}
            ${jumps ? `offset ${offset}` : `limit ${MAX_LIMIT + 1}`}) f limit ${limit} + 1),
        found as materialized (select count(*) as files from page),
        last as (select ${key} as key, id from (
          select * from page where ${limit} > 0 and (select files from found) > ${limit}
            offset greatest(${limit} - 1, 0) limit 1) page)
        select ${NO_RECORD}${hasMark ? ', null' : ''}, ${query.after ? 'null' : `(${totalOf(conditions, limit, offset)})::text`} as total,
            last.key, last.id::text
          from bucket cross join found left join last on true
        union all
        (select ${RECORD}${hasMark ? ', scan_result' : ''}, null, null, null from page limit ${limit})`,
      values: conditions.values,
    },
    settings: name === '' || name === 'a' ? { plan_cache_mode: 'force_generic_plan' } : {},
  };
}

/**
 * The total, counted only if necessary: the last page reveals it, and storage.count_visible() reads a counter
 * if the policies show either all files of the bucket or none (migrations/project/sql/storage-lists.ts).
 */
function totalOf(conditions: Conditions, limit: string, offset: string): string {
  const isNarrowed = conditions.name !== '';
  const counted = isNarrowed
    ? `(select count(*) from storage.files f where ${conditions.text})`
    : 'storage.count_visible(bucket.id, (select object_id from page limit 1))';
  return `case when found.files between 1 and ${limit} then ${offset} + found.files else ${counted} end`;
}

/** Escapes LIKE's wildcards, because a search is plain text (PostgreSQL manual, 9.7.1). */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
