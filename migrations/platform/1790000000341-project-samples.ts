/** Samples for charts of the last hour and day. At most 120 and 150 rows of a project are kept (src/observe/samples). */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = `
  create table project_samples (
    project_id text not null references projects on delete cascade,
    -- Seconds: 60 for the last hours, 600 for the last day.
    step integer not null,
    at timestamptz not null,
    requests bigint not null,
    refused bigint not null,
    errors bigint not null,
    bytes bigint not null,
    -- Counts in buckets of time (duration-histogram.ts).
    durations bigint[] not null,
    database_bytes bigint,
    primary key (project_id, step, at)
  );
  create index project_samples_at on project_samples (at);
`;

export class ProjectSamples1790000000341 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table project_samples');
  }
}
