/** A rotation of keys waits until every process of the install acknowledges it, and a crash leaves a consistent state. */
import { Client } from 'pg';
import { PLATFORM_URL } from '../../src/database/platform/platform-url';
import { MessageBus } from '../../src/install/message-bus.service';
import { ProjectFactory } from '../../src/projects/project-factory';
import { projectKey, SERVICE_ROLE } from '../../src/projects/project-keys';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { ProjectSecrets } from '../../src/projects/project-secrets';
import { ProjectRepository } from '../../src/projects/project.repository';
import { TestPlinth } from '../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

it('is true when every listening process answers, and false when one does not', async () => {
  const bus = plinth.app.get(MessageBus);
  expect(await bus.allReplicasAcknowledged()).toBe(true);
  const mute = new Client({
    connectionString: plinth.app.get<string>(PLATFORM_URL),
    application_name: 'plinth-listen',
  });
  await mute.connect();
  expect(await bus.allReplicasAcknowledged()).toBe(false);
  await mute.end();
  expect(await bus.allReplicasAcknowledged()).toBe(true);
});

it('an interrupted rotation changes no key, its secret expires, and the next rotation succeeds', async () => {
  const project = await plinth.createProject();
  const keys = `/admin/v1/projects/${project.id}/keys`;
  const status = async (key: string): Promise<number> =>
    (await project.client(key, key).get(`${project.storage}/buckets`)).status;
  const introduced = plinth.app.get(ProjectFactory).newSecret(project.id);
  const until = new Date(plinth.clock.now() + 60_000);
  await plinth.app.get(ProjectRepository).introduceSecret(introduced, until);
  plinth.app.get(ProjectRegistry).forget(project.id);

  const early = projectKey(project, plinth.app.get(ProjectSecrets).openSigning(introduced), SERVICE_ROLE);
  expect((await plinth.admin.get(keys)).body.anon_key).toBe(project.anonKey);
  expect([await status(project.serviceKey), await status(early)]).toEqual([200, 200]);
  plinth.clock.move(61);
  expect([await status(project.serviceKey), await status(early)]).toEqual([200, 401]);
  const rotated = await plinth.admin.post(`${keys}/rotate`, { grace_seconds: 0 });
  expect([await status(project.serviceKey), await status(early)]).toEqual([401, 401]);
  expect(await status(rotated.body.service_role_key as string)).toBe(200);
  plinth.clock.move(-61);
});
