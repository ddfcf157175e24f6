/** Changes of tables under load: time from commit to callback, fan-out, and kills, without lost or reordered changes. */
import { performance } from 'node:perf_hooks';
import type { Caller } from '../../src/access/caller';
import type { ChangeMessage } from '../../src/changes/change';
import { ChangeFeed } from '../../src/changes/change-feed';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { listen } from '../support/change-listener';
import type { EventReader } from '../support/event-stream';
import { until } from '../support/eventually';
import { accessOf, asOwner, asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import type { TestProject } from '../support/test-project';

const KILL_MS = Number(process.env.CHANGES_SOAK_SECONDS ?? 60) * 1_000;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`create table t (id int primary key, sent float8, owner uuid);
    create policy everybody on t for select to anon using (true);
    create policy own on t for select to authenticated using (owner = auth.uid());
    create publication supabase_realtime for table t`);
});
afterAll(() => plinth.stop());

async function callerFor(role: string, claims: Record<string, unknown> = {}): Promise<Caller> {
  const found = await plinth.app.get(ProjectRegistry, { strict: false }).get(project.id);
  const tokenClaims = { role, ...claims };
  return {
    database: found.database,
    project: found,
    role,
    claims: JSON.stringify(tokenClaims),
    tokenClaims,
    sessionId: null,
    userId: null,
    readOnly: false,
  };
}

const quantile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

/**
 * Makes 100 changes per second for some seconds. @returns milliseconds from commit to the last callback of each change
 */
async function measure(subscribers: number, claims: number, seconds: number): Promise<number[]> {
  const feed = plinth.app.get(ChangeFeed, { strict: false });
  const committed = new Map<number, number>();
  const last = new Map<number, number>();
  let told = 0;
  const listener = {
    client: {},
    onChange: ({ json }: ChangeMessage): void => {
      const id = Number(/"record":\{"id":(\d+)/.exec(json)?.[1]);
      last.set(id, performance.now());
      told += 1;
    },
    onGap: (gap: unknown): void => {
      throw new Error(JSON.stringify(gap));
    },
  };
  const callers = await Promise.all(
    Array.from({ length: claims }, (_, n) =>
      claims === 1
        ? callerFor('anon')
        : callerFor('anon', { sub: `00000000-0000-0000-0000-${String(n).padStart(12, '0')}` }),
    ),
  );
  const handles = [];
  for (let n = 0; n < subscribers; n += 1)
    handles.push(
      await feed.subscribe(
        {
          caller: callers[n % claims] as Caller,
          schema: 'public',
          table: 't',
          event: '*',
          filter: undefined,
        },
        listener,
      ),
    );
  const access = await accessOf(plinth, project.id);
  const total = seconds * 100;
  await asOwner(access, async (client) => {
    // The log is sent when it is flushed, which the test run's server would do only every 200 ms.
    await client.query('set synchronous_commit = on');
    const start = performance.now();
    for (let n = 0; n < total; n += 1) {
      const due = start + n * 10;
      while (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1));
      await client.query('insert into t (id) values ($1)', [n]);
      committed.set(n, performance.now());
    }
    await until(() => told === total * subscribers, 120_000);
    await client.query('delete from t');
  });
  for (const handle of handles) handle.close();
  return [...committed].map(([id, at]) => (last.get(id) ?? Infinity) - at);
}

describe('the time from commit to callback', () => {
  it.each([
    [1, 1],
    [1_000, 1],
    [1_000, 50],
    [5_000, 1],
  ])(
    'of %i subscribers with %i sets of claims',
    async (subscribers, claims) => {
      const times = await measure(subscribers, claims, 5);
      const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)].map((ms) => ms.toFixed(1));
      process.stdout.write(
        `commit to last callback, ${subscribers} subscribers, ${claims} claims: p50 ${p50} ms, p99 ${p99} ms\n`,
      );
      expect(times.length).toBe(500);
    },
    180_000,
  );
});

describe('kills', () => {
  it(
    `of senders and of clients lose nothing in ${KILL_MS / 1_000} s`,
    async () => {
      const access = await accessOf(plinth, project.id);
      let isOver = false;
      let written = 0;
      const writing = asOwner(access, async (client) => {
        while (!isOver) {
          const rows = 1 + (written % 7);
          await client.query(`insert into t (id) select n from generate_series($1::int, $2::int) n`, [
            written,
            written + rows - 1,
          ]);
          written += rows;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      });
      const seen: number[][] = [[], [], []];
      const readers = seen.map(async (ids, index) => {
        let position: string | undefined;
        while (!isOver || ids.length < written) {
          const headers: Record<string, string> = position === undefined ? {} : { 'last-event-id': position };
          const reader: EventReader = await listen(project.anon, '/rest/v1/t?limit=0', headers);
          if (reader.status === 503) continue;
          if (reader.status !== 200) throw new Error(`answered ${reader.status}`);
          const from = Date.now();
          const first = ids.length === 0 ? null : (ids.at(-1) ?? 0);
          await until(
            () => Date.now() - from > 500 + 700 * index || (isOver && reader.of('INSERT').length > 0),
            30_000,
          );
          await until(
            () => !isOver || (reader.of('INSERT').at(-1)?.record.id ?? first ?? -1) >= written - 1,
            60_000,
          );
          expect(reader.of('system')).toEqual([]);
          for (const { record, position: at } of reader.of('INSERT') as {
            record: { id: number };
            position: string;
          }[]) {
            ids.push(record.id);
            position = at;
          }
          await reader.close();
          if (isOver && (ids.at(-1) ?? -1) >= written - 1) break;
        }
      });
      const end = Date.now() + KILL_MS;
      let kills = 0;
      while (Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        const { rowCount } = await asSuperuser('postgres', (client) =>
          client.query(
            "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name ~ '^plinth_feed_' and active_pid is not null",
          ),
        );
        kills += rowCount ?? 0;
      }
      isOver = true;
      await writing;
      await Promise.all(readers);
      for (const ids of seen) {
        const begin = ids[0] ?? 0;
        expect(ids).toEqual(Array.from({ length: written - begin }, (_, n) => begin + n));
      }
      process.stdout.write(`${kills} kills, ${written} rows, 3 readers: none lost, none twice, in order\n`);
    },
    KILL_MS + 120_000,
  );
});
