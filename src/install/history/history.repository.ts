/** The history of projects in the platform database, which all processes share. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { HistoryEntry, HistoryFilter } from './history-entry';

export interface StoredEntry extends Required<Omit<HistoryEntry, 'at'>> {
  /** Time in microseconds and a number, which together define the order. */
  readonly id: string;
  readonly at: Date;
  /** Number of entries that were left out before this one. */
  readonly left_out: number;
}

/** An entry as it is stored, with `project_id` and `left_out`. */
export type NewEntry = HistoryEntry & { readonly project_id: string; readonly left_out: number };

const COLUMNS = `source, method, path, status, role, ms, ms_database, bytes, error, request_id, statement`;

/** Bytes of an entry in addition to its texts: columns, head of the row, indexes. */
const ROW_BYTES = 160;

@Injectable()
export class HistoryRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(entries: readonly NewEntry[]): Promise<void> {
    await this.dataSource.query(
      `insert into project_history (project_id, at, left_out, size, ${COLUMNS})
       select r.project_id, to_timestamp(r.at / 1000), r.left_out,
         ${ROW_BYTES} + octet_length(concat(r.path, r.role, r.error, r.statement)), ${COLUMNS}
       from json_to_recordset($1) as r (project_id text, at float8, left_out int, source text, method text, path text,
         status smallint, role text, ms real, ms_database real, bytes bigint, error text, request_id text, statement text)
       where exists (select from projects p where p.id = r.project_id)`,
      [JSON.stringify(entries)],
    );
  }

  /** Newest first. */
  async list(projectId: string, filter: HistoryFilter, limit: number): Promise<StoredEntry[]> {
    const { source, outcome, method, search, since, until, slower, before } = filter;
    const [micros, id] = before?.split('-') ?? [];
    return this.dataSource.query<StoredEntry[]>(
      `select (extract(epoch from at) * 1e6)::bigint || '-' || id as id, at, source, method, path, status, role,
         round(ms::numeric, 1)::float8 as ms, round(ms_database::numeric, 1)::float8 as ms_database,
         bytes::float8 as bytes, error, request_id, statement, left_out
       from project_history where project_id = $1
         and ($2::text is null or source = $2)
         and case $3 when 'refused' then status between 400 and 499
           when 'failed' then status >= 500 or status is null and error is not null
           when 'database' then error ~ '^[0-9A-Z]{5}$' and error !~ '^PL' else true end
         and ($4::text is null or method = $4)
         and ($5::text is null or strpos(lower(concat_ws(' ', method, path, status, role, error, request_id)), lower($5)) > 0)
         and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
         and ($8::float8 is null or ms >= $8)
         and ($9::bigint is null or (at, id) < ('epoch'::timestamptz + $9 * interval '1 microsecond', $10::bigint))
       order by at desc, project_history.id desc limit $11`,
      [
        projectId,
        ...[source, outcome, method, search, since, until, slower, micros, id].map((value) => value ?? null),
        limit,
      ],
    );
  }

  async removeBefore(time: Date): Promise<void> {
    await this.dataSource.query('delete from project_history where at < $1', [time]);
  }

  /** Removes the oldest entries of the projects that have more than `rows` entries, or more than `bytes` in total. */
  async bound(projectIds: readonly string[], rows: number, bytes: number): Promise<void> {
    await this.dataSource.query(
      `delete from project_history h using unnest($1::text[]) as p (id) cross join lateral (
         select at, id from (
           select at, id, row_number() over newest as place, sum(size) over newest as total
           from project_history where project_id = p.id
           window newest as (order by at desc, id desc rows unbounded preceding)) n
         where place > $2 or total > $3 order by at desc, id desc limit 1) as last
       where h.project_id = p.id and (h.at, h.id) <= (last.at, last.id)`,
      [projectIds, rows, bytes],
    );
  }
}
