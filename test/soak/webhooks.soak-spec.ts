/**
 * kill -9 of Plinth and of PostgreSQL while webhooks are delivered. No delivery is lost, and deliveries of a row arrive
 * in order.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/eventually';
import {
  KilledInstall,
  type KilledProject,
  killOften,
  repeatUntilKilled,
} from '../support/kills/killed-install';
import { WebhookReceiver } from '../support/webhook-receiver';

const KILLS = 5;
const ROWS = Number(process.env.WEBHOOKS_SOAK_ROWS ?? 10_000);
const BATCH = 100;
/** Milliseconds between two kills. */
const BATCHES = Math.floor((ROWS / BATCH) * 0.15);
/** Time limits grow with the number of rows. */
const SCALE = Math.max(1, ROWS / 10_000);
/** Number of rows whose changes must arrive in order. */
const LINES = 20;

jest.setTimeout(900_000 * SCALE);

let directory: string;
let receiver: WebhookReceiver;
let install: KilledInstall;
let project: KilledProject;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-webhooks-'));
  receiver = await WebhookReceiver.start();
  install = new KilledInstall(directory, { WEBHOOK_ALLOWED_HOSTS: receiver.host });
  await install.start();
}, 120_000);
afterAll(async () => {
  await install.stop();
  await receiver.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

it(`${KILLS} kills lose none of ${ROWS} changes`, async () => {
  const began = Date.now();
  let next = 0;
  let goal = BATCHES;
  const work = {
    acknowledged: 0,
    prepare: async (): Promise<void> => {
      project = await install.create('Webhooks');
      await install.sql(
        project.id,
        `create table lines (id int primary key, n int); insert into lines select l, 0 from generate_series(0, ${LINES - 1}) l;
         create table changes (n int primary key)`,
      );
      for (const [table, event] of [
        ['changes', 'INSERT'],
        ['lines', 'UPDATE'],
      ] as const) {
        const body = { table, events: [event], url: receiver.url(`/${table}`) };
        const made = await install.admin.post(`/admin/v1/projects/${project.id}/webhooks`, body);
        expect([made.status, made.text]).toEqual([201, expect.any(String)]);
      }
    },
    run: (): Promise<unknown> =>
      repeatUntilKilled(async () => {
        const from = next;
        const sql = `insert into changes select generate_series(${from}, ${from + BATCH - 1}); update lines set n = n + 1`;
        const { status } = await install.sql(project.id, sql);
        next += BATCH;
        if (status === 200) work.acknowledged += 1;
      }),
    verify: async (): Promise<void> => undefined,
  };
  await work.prepare();
  await killOften(() => install, [work], {
    kills: KILLS,
    withDatabase: (kill) => kill % 2 === 1,
    moment: () => until(() => work.acknowledged >= goal, 60_000 * SCALE).then(() => (goal += BATCHES)),
  });
  // The remaining changes are delivered without a kill.
  for (; next < ROWS; next += BATCH)
    await install.sql(
      project.id,
      `insert into changes select generate_series(${next}, ${next + BATCH - 1}); update lines set n = n + 1`,
    );
  const stored = (
    await install.sql(
      project.id,
      'select count(*)::int as n, (select max(n) from lines) as last from changes',
    )
  ).body.rows[0] as { n: number; last: number };
  expect(stored.n).toBeGreaterThan(0);
  const told = (): Set<number> => new Set(receiver.at('/changes').map(({ json }) => json.record.n as number));
  const waiting = async (): Promise<number> =>
    (
      await install.sql(
        project.id,
        `select count(*)::int as n from hooks.deliveries where state <> 'delivered'`,
      )
    ).body.rows[0].n as number;
  await until(async () => (await waiting()) === 0, 300_000 * SCALE);
  expect(told().size).toBe(stored.n);
  const failed = await install.sql(
    project.id,
    `select count(*)::int as n from hooks.deliveries where state = 'failed'`,
  );
  expect(failed.body.rows).toEqual([{ n: 0 }]);
  for (let id = 0; id < LINES; id += 1) {
    const all = receiver.at('/lines').filter(({ json }) => json.record.id === id);
    // The first arrival of each delivery counts, because a delivery whose outcome was lost is repeated.
    const firsts = [...new Set(all.map(({ json }) => json.record.n as number))];
    expect(firsts).toEqual(Array.from({ length: stored.last }, (_, index) => index + 1));
  }
  const arrivals = receiver.at('/changes').length + receiver.at('/lines').length;
  const repeated = arrivals - stored.n - stored.last * LINES;
  process.stdout.write(
    `${stored.n} rows, ${stored.last * LINES} updates, ${repeated} of ${arrivals} requests repeated, ` +
      `${Math.round((Date.now() - began) / 1000)} s\n`,
  );
});
