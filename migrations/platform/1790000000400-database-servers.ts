/** PostgreSQL servers for the databases of projects. `platform` is the server of the platform database; it has no URL here. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create table database_servers (
    name text primary key,
    -- Encrypted; null for the server of the platform database.
    url bytea,
    status text not null default 'open' check (status in ('open', 'draining')),
    -- Number of projects up to which new ones are placed here.
    capacity integer not null check (capacity >= 0),
    created_at timestamptz not null default now()
  );
  insert into database_servers (name, capacity) values ('platform', 1000);
  -- Null for a project with a server of its own (database_url).
  alter table projects add column server text references database_servers;
  update projects set server = 'platform' where server_url is null;
  create index projects_server on projects (server);
`;

export class DatabaseServers1790000000400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop column server; drop table database_servers');
  }
}
