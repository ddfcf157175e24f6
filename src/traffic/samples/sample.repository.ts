/** Samples of requests and sizes in the platform database: one per minute for two hours, one per ten minutes for a day. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Totals of a project's requests in one process since it last wrote. */
export interface RequestCounts {
  readonly project_id: string;
  readonly requests: number;
  /** Requests that were answered with a 4xx status. */
  readonly refused: number;
  /** Requests that were answered with a 5xx status. */
  readonly errors: number;
  readonly bytes: number;
  readonly durations: readonly number[];
}

/** Seconds of a sample: the first for a chart of an hour, the second for a chart of a day. */
export const STEPS = { hour: 60, day: 600 } as const;
export type SampleRange = keyof typeof STEPS;

export interface SampleRow extends Omit<RequestCounts, 'project_id'> {
  readonly at: Date;
  readonly database_bytes: number | null;
}

/** Advisory lock of the process that measures and prunes in this minute. The number is arbitrary. */
const UPKEEP_LOCK = 7_046_107;
/** Maximum number of databases that are measured per minute: for each, PostgreSQL reads the sizes of a few hundred files. */
const MEASURED = 200;

const START = `to_timestamp(floor(extract(epoch from $2::timestamptz) / step) * step)`;

@Injectable()
export class SampleRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds the counts of this process to the samples whose time includes `at`. Rows are written in the order of
   * the key, so that two processes cannot deadlock.
   */
  async add(counts: readonly RequestCounts[], at: Date): Promise<void> {
    await this.dataSource.query(
      `insert into project_samples as s (project_id, step, at, requests, refused, errors, bytes, durations)
       select r.project_id, step, ${START}, r.requests, r.refused, r.errors, r.bytes, r.durations
       from json_to_recordset($1) as r (project_id text, requests bigint, refused bigint, errors bigint,
         bytes bigint, durations bigint[]) cross join unnest(array[${STEPS.hour}, ${STEPS.day}]) step
       where exists (select from projects p where p.id = r.project_id)
       order by 1, 2
       on conflict (project_id, step, at) do update set
         requests = s.requests + excluded.requests, refused = s.refused + excluded.refused,
         errors = s.errors + excluded.errors, bytes = s.bytes + excluded.bytes,
         durations = (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by n)
           from unnest(s.durations, excluded.durations) with ordinality u (a, b, n))`,
      [JSON.stringify(counts), at],
    );
  }

  /** Measures databases with new samples, and removes old samples. Only one of several processes does it. */
  async keepUp(now: Date): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const [lock] = await manager.query<{ taken: boolean }[]>(
        'select pg_try_advisory_xact_lock($1) as taken',
        [UPKEEP_LOCK],
      );
      if (!lock?.taken) return;
      await manager.query(
        `with sizes as materialized (
           select p.id, pg_database_size(d.oid) as bytes from projects p
             join pg_database d on d.datname = p.database_name
           where p.server_url is null and p.status = 'active' and has_database_privilege(d.oid, 'connect')
             and exists (select from project_samples s
               where s.project_id = p.id and s.step = ${STEPS.hour} and s.at >= $1::timestamptz - interval '3 minutes'
                 and s.database_bytes is null)
           limit ${MEASURED})
         update project_samples s set database_bytes = z.bytes from sizes z
         where s.project_id = z.id and s.at >= $1::timestamptz - interval '11 minutes'
           and (s.step = ${STEPS.day} or s.database_bytes is null)`,
        [now],
      );
      await manager.query(
        `delete from project_samples where step = ${STEPS.hour} and at < $1::timestamptz - interval '2 hours'
           or step = ${STEPS.day} and at < $1::timestamptz - interval '25 hours'`,
        [now],
      );
    });
  }

  /** Lists samples, the oldest first: at most 61 for an hour, or 145 for a day. */
  async list(projectId: string, range: SampleRange, now: Date): Promise<SampleRow[]> {
    return this.dataSource.query<SampleRow[]>(
      `select at, requests::float8 as requests, refused::float8 as refused, errors::float8 as errors,
         bytes::float8 as bytes, durations::float8[] as durations, database_bytes::float8 as database_bytes
       from project_samples where project_id = $1 and step = $2
         and at > $3::timestamptz - case $2 when ${STEPS.hour} then interval '1 hour' else interval '1 day' end
           - make_interval(secs => $2) and at <= $3
       order by at`,
      [projectId, STEPS[range], now],
    );
  }
}
