/** Reads how much of their quotas projects use, from the samples in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

export interface SampledUse {
  readonly id: string;
  /** The newest measurement of the last day; null if there is none. */
  readonly databaseBytes: number | null;
  /** Requests since midnight in UTC that the samples hold. */
  readonly requests: number;
}

@Injectable()
export class QuotaUseRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param ids at most a few thousand */
  async read(ids: readonly string[], now: Date): Promise<SampledUse[]> {
    return this.dataSource.query<SampledUse[]>(
      `select id, (select s.database_bytes::float8 from project_samples s
           where s.project_id = id and s.database_bytes is not null and s.at <= $2 order by s.at desc limit 1)
           as "databaseBytes",
         (select coalesce(sum(s.requests), 0)::float8 from project_samples s
           where s.project_id = id and s.step = 600 and s.at <= $2
             and s.at >= date_trunc('day', $2::timestamptz at time zone 'UTC') at time zone 'UTC') as requests
       from unnest($1::text[]) id`,
      [ids, now],
    );
  }
}
