/**
 * The read replicas of each server and its PgBouncer, each as `host` or `host:port`. They have the roles and passwords of the
 * server.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class ServerReplicas1790000000450 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table database_servers add column replicas text[] not null default '{}', add column pooler text`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table database_servers drop column replicas, drop column pooler');
  }
}
