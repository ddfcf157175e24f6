/** The secret that signs storage addresses rotates with the one that signs tokens, so each of those has one beside it. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class StorageSecrets1790000000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_secrets add storage_secret bytea;
      update project_secrets set storage_secret = projects.storage_secret
        from projects where projects.id = project_id;
      alter table project_secrets alter storage_secret set not null;
      alter table projects drop storage_secret;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table projects add storage_secret bytea;
      update projects set storage_secret = project_secrets.storage_secret
        from project_secrets where project_id = projects.id and expires_at is null;
      -- A project whose creation did not come to its secrets is undone at the next start.
      update projects set storage_secret = '' where storage_secret is null;
      alter table projects alter storage_secret set not null;
      alter table project_secrets drop storage_secret;
    `);
  }
}
