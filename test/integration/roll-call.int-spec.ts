/** Who rotates keys waits for every process of the install to have heard of it. */
import { Client } from 'pg';
import { PLATFORM_URL } from '../../src/database/platform/platform-url';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { TestPlinth } from '../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

it('a call is answered by every process that listens, and tells when one stays mute', async () => {
  const registry = plinth.app.get(ProjectRegistry);
  expect(await registry.everybodyHeard()).toBe(true);
  const mute = new Client({
    connectionString: plinth.app.get<string>(PLATFORM_URL),
    application_name: 'plinth-listen',
  });
  await mute.connect();
  expect(await registry.everybodyHeard()).toBe(false);
  await mute.end();
  expect(await registry.everybodyHeard()).toBe(true);
});
