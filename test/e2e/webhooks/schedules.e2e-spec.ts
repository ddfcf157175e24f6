/**
 * Schedules run SQL and requests at the times of a cron expression, once over all processes. Also tests the command
 * line for webhooks and schedules.
 */
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { eventually } from '../../support/eventually';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { WebhookReceiver } from '../../support/webhook-receiver';

let plinth: TestPlinth;
let second: TestPlinth;
let project: TestProject;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const env = { WEBHOOK_ALLOWED_HOSTS: receiver.host };
  plinth = await TestPlinth.start({ env });
  second = await TestPlinth.start({ env, replicaOf: plinth });
  for (const { clock } of [plinth, second]) clock.hold();
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.sql(
    'create table ticks (at timestamptz default clock_timestamp(), who text default current_user)',
  );
});
afterAll(async () => {
  await second.stop();
  await plinth.stop();
  await receiver.stop();
});

const base = (): string => `/admin/v1/projects/${project.id}/schedules`;
const MINUTELY = { cron: '* * * * *' };
// oxlint-disable-next-line typescript/no-explicit-any -- bodies of the product under test
const runsOf = async (id: string): Promise<any[]> => (await plinth.admin.get(`${base()}/${id}/runs`)).body;
const pass = async (seconds: number): Promise<void> => {
  for (const { clock } of [plinth, second]) clock.move(seconds);
  await project.sql(`select pg_notify('plinth_hooks', 'again')`);
};

it('runs SQL as the owner, once over all processes at each time, with a history', async () => {
  const sql = 'insert into ticks default values; update ticks set at = at';
  const created = await plinth.admin.post(base(), { name: 'tick', ...MINUTELY, sql });
  expect([created.status, created.body]).toMatchObject([
    201,
    { name: 'tick', time_zone: 'UTC', enabled: true, sql },
  ]);
  const { id } = created.body;
  for (let minute = 1; minute <= 3; minute += 1) {
    await pass(60);
    await eventually(async () => {
      expect(await runsOf(id)).toHaveLength(minute);
      expect((await runsOf(id))[0]).toMatchObject({
        state: 'succeeded',
        result: `INSERT 1, UPDATE ${minute}`,
      });
    });
  }
  // After an hour without runs, only the last missed run is made up for.
  await pass(3_600);
  await eventually(async () => {
    expect(await runsOf(id)).toHaveLength(4);
    expect((await runsOf(id))[0]).toMatchObject({ state: 'succeeded' });
  });
  expect(await project.sql("select count(*)::int as n, min(who) like '%_owner' as own from ticks")).toEqual([
    { n: 4, own: true },
  ]);
  const dues = (await runsOf(id)).map(({ due_at }) => due_at);
  expect(new Set(dues).size).toBe(4);
  const off = await plinth.admin.patch(`${base()}/${id}`, { enabled: false });
  expect(off.body.enabled).toBe(false);
  await pass(120);
  await plinth.admin.patch(`${base()}/${id}`, { enabled: true, sql: 'select 1/0' });
  await pass(60);
  await eventually(async () =>
    expect((await runsOf(id))[0]).toMatchObject({ state: 'failed', result: null, error: 'division by zero' }),
  );
  expect((await plinth.admin.delete(`${base()}/${id}`)).status).toBe(204);
  expect((await plinth.admin.get(`${base()}/${id}/runs`)).status).toBe(404);
});

it('sends a request through the queue of webhooks', async () => {
  const body = { name: 'report', ...MINUTELY, url: receiver.url('/report'), body: '{"daily": true}' };
  const refused = await plinth.admin.post(base(), body);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'http_post_needed']);
  await plinth.admin.post(`/admin/v1/projects/${project.id}/webhooks`, { events: ['http_post'] });
  const { id } = (await plinth.admin.post(base(), body)).body;
  await pass(60);
  await eventually(async () =>
    expect(receiver.at('/report').map(({ json }) => json)).toEqual([{ daily: true }]),
  );
  const [run] = await runsOf(id);
  expect([run.state, run.result]).toEqual(['succeeded', receiver.at('/report')[0]?.headers['webhook-id']]);
  await plinth.admin.delete(`${base()}/${id}`);
});

it.each([
  [{}, 'either sql or url'],
  [{ sql: 'select', url: 'https://example.com' }, 'either sql or url'],
  [{ sql: 'select', body: '{}' }, 'body needs a url'],
  [{ sql: 'select', cron: '* * * * * *' }, 'five fields'],
  [{ sql: 'select', cron: 'H * * * *' }, 'five fields'],
  [{ sql: 'select', cron: '0 0 30 2 *' }, 'five fields'],
  [{ sql: 'select', time_zone: 'Mars/Base' }, 'time_zone'],
  [{ url: 'file:///etc/passwd' }, 'http or https'],
])('refuses %j', async (body, message) => {
  const answer = await plinth.admin.post(base(), { name: 'wrong', ...MINUTELY, ...body });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
});

it('run while rows that an owner wrote are malformed, and cannot be given SQL by service_role', async () => {
  await project.sql(`insert into hooks.schedules (id, name, cron, time_zone, sql) values
    (gen_random_uuid(), 'wild', repeat('*', 90), 'UTC', 'select'), (gen_random_uuid(), 'zone', '* * * * *', 'x', 'select'),
    (gen_random_uuid(), 'never', '0 0 31 4,6,9,11 *', 'UTC', 'select'), (gen_random_uuid(), 'seconds', '* * * * * *', 'UTC', 'select')`);
  const { id } = (await plinth.admin.post(base(), { name: 'sound', ...MINUTELY, sql: 'select 1' })).body;
  await pass(60);
  await eventually(async () => expect(await runsOf(id)).toMatchObject([{ state: 'succeeded' }]));
  expect(
    await project.sql(`select has_table_privilege('service_role', 'hooks.schedules', 'insert, update') as table,
      has_column_privilege('service_role', 'hooks.schedules', 'sql', 'update') as column,
      has_table_privilege('anon', 'hooks.schedules', 'select') as anon`),
  ).toEqual([{ table: false, column: false, anon: false }]);
});

async function plinthCli(...args: string[]): Promise<string> {
  let [out, err] = ['', ''];
  const environment = cliEnvironment({
    connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  expect([await runCli(args, environment), err]).toEqual([0, '']);
  return out;
}
// oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
const json = async (...args: string[]): Promise<any> => JSON.parse(await plinthCli(...args, '--json'));

it('plinth webhooks and plinth schedules manage webhooks and schedules', async () => {
  const { slug } = project;
  const url = receiver.url('/cli');
  const made = await json(
    'webhooks',
    'create',
    slug,
    '--table',
    'ticks',
    '--events',
    'INSERT,DELETE',
    '--url',
    url,
  );
  expect(made).toMatchObject({
    table: 'ticks',
    events: ['INSERT', 'DELETE'],
    secret: expect.stringMatching(/^whsec_/),
  });
  await project.sql('insert into ticks default values');
  await eventually(async () => expect(receiver.at('/cli')).toHaveLength(1));
  await eventually(async () =>
    expect(await json('webhooks', 'deliveries', slug, made.id, '--state', 'delivered')).toHaveLength(1),
  );
  const [delivery] = await json('webhooks', 'deliveries', slug, made.id);
  expect(await plinthCli('webhooks', 'send-again', slug, made.id, delivery.id)).toContain('is queued');
  await eventually(async () => expect(receiver.at('/cli')).toHaveLength(2));
  expect((await json('webhooks', 'rotate-secret', slug, made.id)).secret).not.toBe(made.secret);
  expect((await json('webhooks', 'update', slug, made.id, '--enabled', 'false')).enabled).toBe(false);
  expect(await plinthCli('webhooks', 'list', slug)).toContain('public.ticks');
  expect(await plinthCli('webhooks', 'delete', slug, made.id)).toContain('is deleted');
  const args = [
    '--name',
    'from the shell',
    '--cron',
    '0 3 * * *',
    '--sql',
    'select 1',
    '--time-zone',
    'Europe/Berlin',
  ];
  const schedule = await json('schedules', 'create', slug, ...args);
  expect(schedule).toMatchObject({ time_zone: 'Europe/Berlin', sql: 'select 1' });
  expect(await plinthCli('schedules', 'list', slug)).toContain('from the shell');
  expect(await plinthCli('schedules', 'runs', slug, schedule.id)).toContain('no rows');
  expect(await plinthCli('schedules', 'delete', slug, schedule.id)).toContain('is deleted');
});
