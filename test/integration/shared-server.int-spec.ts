/** Two installations whose projects are on one PostgreSQL server. */
import { backUp, restore } from '../support/backups';
import { accessOf, asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

let [first, second]: TestPlinth[] = [];
let project: TestProject;
let archive: Buffer;

beforeAll(async () => {
  [first, second] = [await TestPlinth.start(), await TestPlinth.start()];
  project = await first.createProject();
  await project.sql('create table notes as select 1 as id');
  archive = await backUp(first, project.id);
});
afterEach(async () => expect((await project.service.get('/rest/v1/notes')).body).toEqual([{ id: 1 }]));
afterAll(async () => {
  await first?.stop();
  await second?.stop();
});

describe('restoring a project of the other installation', () => {
  it('under its id is refused, and does not change the project', async () => {
    const answer = await restore(second as TestPlinth, archive);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'project_already_exists']);
    const { database } = await accessOf(first as TestPlinth, project.id);
    expect(answer.body.error.message).toContain(database);
  });

  it.each([true, false])('under another slug makes a copy (dry_run=%s)', async (isDry) => {
    const answer = await restore(second as TestPlinth, archive, { query: `?slug=copied&dry_run=${isDry}` });
    expect([answer.status, answer.body.same_id]).toEqual([201, false]);
  });
});

describe('an archive that both installations restore', () => {
  let shared: { id: string; archive: Buffer };
  beforeEach(async () => {
    const made = await (first as TestPlinth).createProject();
    await made.sql('create table notes as select 1 as id');
    shared = { id: made.id, archive: await backUp(first as TestPlinth, made.id) };
    expect((await first?.admin.delete(`/admin/v1/projects/${made.id}`))?.status).toBe(200);
  });

  async function rowsIn(plinth: TestPlinth): Promise<unknown[]> {
    const { rows } = await asSuperuser(`plinth_${shared.id}`, (client) =>
      client.query('select id from notes'),
    );
    await plinth.admin.delete(`/admin/v1/projects/${shared.id}`);
    return rows;
  }

  it('concurrently belongs to one of them, and the other does not change it', async () => {
    const both = [first, second] as TestPlinth[];
    const answers = await Promise.all(both.map((plinth) => restore(plinth, shared.archive)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const winner = both[answers.findIndex(({ status }) => status === 201)] as TestPlinth;
    expect((await winner.admin.get(`/admin/v1/projects/${shared.id}`)).status).toBe(200);
    const { login_role } = await accessOf(winner, shared.id);
    expect(login_role).toBe(`plinth_${shared.id}_login`);
    expect(await rowsIn(winner)).toEqual([{ id: 1 }]);
  });

  it('is not removed by the recovery of the installation that was interrupted before', async () => {
    const [mine, interrupted] = [first, second] as TestPlinth[];
    if (!mine || !interrupted) return;
    expect((await restore(interrupted, shared.archive)).status).toBe(201);
    await asSuperuser(interrupted.platformDatabase, (client) =>
      client.query(`update projects set status = 'provisioning' where id = $1`, [shared.id]),
    );
    await asSuperuser('postgres', async (client) => {
      await client.query(`drop database plinth_${shared.id} with (force)`);
      await client.query(`drop role plinth_${shared.id}_owner, plinth_${shared.id}_login`);
    });
    expect((await restore(mine, shared.archive)).status).toBe(201);
    // The installation first removes its own remains.
    const again = await restore(interrupted, shared.archive);
    expect([again.status, again.body.error.code]).toEqual([409, 'project_already_exists']);
    expect(await rowsIn(mine)).toEqual([{ id: 1 }]);
  });
});
