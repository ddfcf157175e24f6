/** A project that an older release made gets what newer ones added, with its users and their sessions. */
import { decode } from 'jsonwebtoken';
import { ProjectUpkeep } from '../../src/projects/project-upkeep.service';
import { projectDataSource } from '../../src/projects/provisioning/project-migrations';
import { accessOf, asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';

const SECOND_FACTORS = 'SecondFactors1790000000011';

it('gives second factors to a project from before there were any', async () => {
  const plinth = await TestPlinth.start();
  try {
    const project = await plinth.createProject();
    const user = await project.signUp();
    const { host, port, database, owner_role, owner_password } = await accessOf(plinth, project.id);
    const owner = projectDataSource({ host, port, database, user: owner_role, password: owner_password });
    await owner.initialize();
    const names = async (): Promise<string[]> => {
      const rows = await owner.query<{ name: string }[]>('select name from extensions.plinth_migrations');
      return rows.map(({ name }) => name);
    };
    while ((await names()).includes(SECOND_FACTORS)) await owner.undoLastMigration();
    await owner.destroy();
    await asSuperuser(plinth.platformDatabase, (client) =>
      client.query(`update projects set schema_version = 'older' where id = $1`, [project.id]),
    );
    expect((await user.http.get(`${project.auth}/factors`)).status).toBe(500);

    await plinth.app.get(ProjectUpkeep).migrateOutdated();
    expect((await user.http.post(`${project.auth}/factors`)).status).toBe(200);
    expect((decode(user.accessToken) as { aal: string }).aal).toBe('aal1');
    expect((await user.http.get(`${project.storage}/buckets`)).status).toBe(200);
  } finally {
    await plinth.stop();
  }
});
