/** Values cached from a project are kept if a reload finds the project unchanged. */
import { TokenVerifier } from '../../src/access/token-verifier';
import { Project } from '../../src/projects/project';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { ProjectRepository } from '../../src/projects/project.repository';
import { ProjectSecrets } from '../../src/projects/project-secrets';
import { TestPlinth } from '../support/plinth';
import { TestProject, TestUser } from '../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let users: TestUser[];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql('create table notes (id int primary key); grant select on notes to authenticated');
  users = await Promise.all(Array.from({ length: 5 }, () => project.signUp()));
});
afterAll(() => plinth.stop());

/** Counts the calls of a method while `work` runs. */
async function callsOf<T extends object>(
  target: T,
  method: keyof T,
  work: () => Promise<void>,
): Promise<number> {
  const original = target[method] as unknown as (...args: unknown[]) => unknown;
  let calls = 0;
  Object.assign(target, {
    [method]: (...args: unknown[]): unknown => {
      calls += 1;
      return original.apply(target, args);
    },
  });
  try {
    await work();
  } finally {
    Reflect.deleteProperty(target, method);
  }
  return calls;
}

async function readByAll(): Promise<void> {
  for (const { http } of users) expect((await http.get('/rest/v1/notes')).status).toBe(200);
}

const current = async (): Promise<Project> =>
  (await plinth.app.get(ProjectRegistry).findById(project.id)) as Project;

/** Drops the project from the registry's cache, as happens after a minute without a look-up. */
async function afterReload(): Promise<{ loads: number; verifications: number; opened: number }> {
  const [verifier, rows] = [plinth.app.get(TokenVerifier), plinth.app.get(ProjectRepository)];
  let [verifications, opened] = [0, 0];
  const loads = await callsOf(rows, 'findActive', async () => {
    opened = await callsOf(plinth.app.get(ProjectSecrets), 'open', async () => {
      verifications = await callsOf(verifier, 'isSignedWithPair', async () => {
        plinth.app.get(ProjectRegistry).forget(project.id);
        await readByAll();
      });
    });
  });
  return { loads, verifications, opened };
}

it('verifies no credential and decrypts no secret again after a reload of an unchanged project', async () => {
  await readByAll();
  const before = await current();
  const { loads, verifications, opened } = await afterReload();
  expect(loads).toBeGreaterThan(0);
  expect([verifications, opened]).toEqual([0, 0]);
  expect(await current()).toBe(before);
});

it('verifies every credential again after the project changed', async () => {
  const before = await current();
  const path = `/admin/v1/projects/${project.id}`;
  expect((await plinth.admin.patch(path, { settings: { max_rows: 7 } })).status).toBe(200);
  const { verifications } = await afterReload();
  expect(verifications).toBeGreaterThanOrEqual(users.length);
  expect((await current()).revision).not.toBe(before.revision);
});

it('has the same revision for a project found by id and by slug', async () => {
  const bySlug = await plinth.app.get(ProjectRegistry).findBySlug(project.slug);
  expect(bySlug?.revision).toBe((await current()).revision);
});
