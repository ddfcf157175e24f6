/** Two installations whose projects are on one PostgreSQL server. */
import { backUp, restore } from '../support/backups';
import { accessOf } from '../support/owner-connection';
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
  it('under its id is refused, and leaves the project alone', async () => {
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
