/** Cases of several subjects that need an install with default settings share one, which a second signal ends at last. */
import { eventually } from '../support/eventually';
import { casesOf } from '../support/extent';
import { copyFirstStart } from './support/first-start';
import { commandLine, expectNoServerFound, leaveRecordOfKilledServer } from './default-install/command-line';
import { hostileRows, PLACES } from './default-install/hostile-rows';
import { plinth, startDefaultInstall } from './default-install/install';
import { largeReads } from './default-install/large-read';
import { statementStatistics } from './default-install/statement-statistics';
import { durableUploads } from './default-install/storage-durable';
import { unixSocket } from './default-install/unix-socket';

startDefaultInstall(async (dataDir) => {
  await copyFirstStart(dataDir);
  await leaveRecordOfKilledServer(dataDir);
});

// The memory of the process is measured first.
hostileRows(casesOf(PLACES, 3));
largeReads();
describe('pg_stat_statements', statementStatistics);
unixSocket();
commandLine();
durableUploads();

it('a second signal ends Plinth immediately, even with a request in progress', async () => {
  const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Slow' });
  const request = plinth.admin
    .post(`/admin/v1/projects/${body.id}/sql`, { query: 'select pg_sleep(300)' })
    .then(({ status }) => status)
    .catch(() => 'ended');
  await eventually(async () => {
    const activity = await plinth.admin.get(`/admin/v1/projects/${body.id}/database/activity`);
    expect(activity.text).toContain('pg_sleep');
  });
  const ended = plinth.end('SIGTERM');
  // A second signal within a second counts as the same signal.
  plinth.child.kill('SIGTERM');
  await eventually(async () => {
    plinth.child.kill('SIGTERM');
    expect(plinth.printed).toContain('by a second signal');
  });
  expect([await ended, await request]).toEqual([1, 'ended']);
  await expectNoServerFound();
});
