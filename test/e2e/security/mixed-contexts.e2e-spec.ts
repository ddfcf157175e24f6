/** Requests of mixed roles and projects on few connections never see each other's context. */
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const REQUESTS = 200;

let plinth: TestPlinth;
let projects: TestProject[];

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: { DATABASE_MAX_CONNECTIONS: '4', DATABASE_PROJECT_CONNECTIONS: '2' },
  });
  projects = [];
  for (let n = 0; n < 3; n += 1) {
    const project = await plinth.createProject();
    await project.sql(`
      create table diary (id bigint generated always as identity primary key, owner uuid default auth.uid(), page text);
      create policy own on diary to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
      create table about (name text);
      create policy everybody on about for select using (true);
      insert into about values ('${project.id}')`);
    projects.push(project);
  }
});
afterAll(() => plinth.stop());

it('200 concurrent requests of mixed roles and projects never mix contexts', async () => {
  const users = projects.map((project) => [project.asSubject(), project.asSubject()] as const);
  await Promise.all(
    Array.from({ length: REQUESTS }, async (_, n) => {
      const project = projects[n % 3] as TestProject;
      const user = users[n % 3]?.[n % 2] as ReturnType<TestProject['asSubject']>;
      if (n % 4 === 0) {
        const { body } = await project.anon.get('/rest/v1/about');
        expect(body).toEqual([{ name: project.id }]);
      } else if (n % 4 === 1) {
        const { status, body } = await user.post('/rest/v1/diary', { page: `page ${n}` });
        expect([status, body[0]?.owner]).toEqual([201, user.userId]);
      } else if (n % 4 === 2) {
        const { body } = await user.get('/rest/v1/diary?select=owner');
        for (const row of body) expect(row.owner).toBe(user.userId);
      } else {
        expect((await project.anon.get('/rest/v1/diary')).body).toEqual([]);
      }
    }),
  );
  const own = users.flat();
  const pages = await Promise.all(
    projects.map(async (p) => (await p.service.get('/rest/v1/diary')).body as unknown[]),
  );
  expect(pages.flat()).toHaveLength(REQUESTS / 4);
  expect(new Set(own.map((user) => user.userId)).size).toBe(6);
});

it('requests verified concurrently are each answered as their own caller', async () => {
  const [project] = projects as [TestProject];
  await project.sql('create function whoami() returns uuid language sql stable as $$ select auth.uid() $$');
  for (let round = 0; round < 5; round += 1) {
    // A changed project is not cached, so each verification waits for its look-up.
    await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { name: `Round ${round}` });
    const users = Array.from({ length: 30 }, () => project.asSubject());
    const answers = await Promise.all(users.map((user) => user.post('/rest/v1/rpc/whoami', {})));
    expect(answers.map(({ body }) => body as unknown)).toEqual(users.map(({ userId }) => userId));
  }
});
