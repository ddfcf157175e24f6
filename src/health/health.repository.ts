/** Checks that the platform database answers, and reads metrics of the installation. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PROJECT_SCHEMA_VERSION } from '../provisioning/project-migrations';

export interface InstallState {
  /** Seconds since the epoch. */
  readonly startedAt: number;
  readonly failedMoves: number;
  readonly outdatedProjects: number;
}

@Injectable()
export class HealthRepository {
  constructor(private readonly dataSource: DataSource) {}

  async ping(): Promise<void> {
    await this.dataSource.query('select 1');
  }

  async readState(): Promise<InstallState> {
    const [state] = await this.dataSource.query<[InstallState]>(
      `select extract(epoch from pg_postmaster_start_time())::float8 as "startedAt",
         (select count(*)::int from project_moves where status <> 'done' and error is not null
            and coalesce(finished_at, now()) > now() - interval '1 hour') as "failedMoves",
         (select count(*)::int from projects where status = 'active' and schema_version <> $1) as "outdatedProjects"`,
      [PROJECT_SCHEMA_VERSION],
    );
    return state;
  }
}
