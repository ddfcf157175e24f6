/** A project created by an older version gets the current schema and keeps its users and sessions. */
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ProjectUpkeep } from '../../src/projects/project-upkeep.service';
import { PROJECT_MIGRATIONS } from '../../src/projects/provisioning/project-migrations';
import { asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';

/** A migration of a possible later version. */
class Later9990000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table auth.users add column later integer not null default 7');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table auth.users drop column later');
  }
}

it('applies missing migrations, once', async () => {
  const plinth = await TestPlinth.start();
  try {
    const project = await plinth.createProject();
    const user = await project.signUp();
    PROJECT_MIGRATIONS.push(Later9990000000000);
    for (let round = 0; round < 2; round += 1) {
      await asSuperuser(plinth.platformDatabase, (client) =>
        client.query(`update projects set schema_version = 'older' where id = $1`, [project.id]),
      );
      await plinth.app.get(ProjectUpkeep).migrateOutdated();
    }
    expect(await project.sql('select later from auth.users')).toEqual([{ later: 7 }]);
    expect((await user.http.get(`${project.auth}/user`)).body.user.id).toBe(user.id);
    expect((await user.http.get(`${project.storage}/buckets`)).status).toBe(200);
  } finally {
    PROJECT_MIGRATIONS.splice(PROJECT_MIGRATIONS.indexOf(Later9990000000000), 1);
    await plinth.stop();
  }
});
