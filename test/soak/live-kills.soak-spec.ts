/**
 * kill -9 of Plinth, of PostgreSQL, of replication and of clients while supabase-js, streams of events and webhooks
 * follow rows: no event is repeated or reordered, no change in the kept log is missed, and no webhook is lost.
 * LIVE_SOAK_SECONDS=3600 npm run soak -- test/soak/live-kills
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type RealtimeChannel, type SupabaseClient } from '@supabase/supabase-js';
import { WebSocket } from 'ws';
import { EventReader } from '../support/event-stream';
import { until } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { freePort, PlinthProcess } from '../support/plinth-process';
import { WebhookReceiver } from '../support/webhook-receiver';

const RUN_MS = Number(process.env.LIVE_SOAK_SECONDS ?? 120) * 1_000;
const BETWEEN_KILLS_MS = 8_000;
/**
 * A subscriber that returns within this time after its last change must get every change, because the log of a minute
 * is kept.
 */
const KEPT_MS = 50_000;
/** Number of rows whose updates webhooks must report in order. */
const LINES = 10;
const LARGE = 100_000;
const LIMIT_MS = 300_000;

jest.setTimeout(RUN_MS + 3 * LIMIT_MS);

let directory: string;
let receiver: WebhookReceiver;
let plinth: PlinthProcess;
let port: number;
let project: { readonly id: string; readonly slug: string; readonly anon_key: string };
/** The writer ends first, and the followers end once all have the last row. */
let [isOver, isDone] = [false, false];
/** Rows are 0 to written - 1, in the order of their commits. */
let written = 0;
let commits = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-live-'));
  receiver = await WebhookReceiver.start();
  port = await freePort();
  await start();
  project = (await plinth.admin.post('/admin/v1/projects', { name: 'Live', plan: 'enterprise' })).body;
  await sql(`create table t (id int primary key);
    create policy everybody on t for select to anon using (true);
    create table lines (id int primary key, n int not null);
    insert into lines select l, 0 from generate_series(0, ${LINES - 1}) l;
    create publication supabase_realtime for table t`);
  const hook = { table: 'lines', events: ['UPDATE'], url: receiver.url('/lines') };
  expect((await plinth.admin.post(`/admin/v1/projects/${project.id}/webhooks`, hook)).status).toBe(201);
}, 120_000);
afterAll(async () => {
  await plinth.end('SIGTERM');
  await receiver.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

async function start(): Promise<void> {
  plinth = await PlinthProcess.start({
    dataDir: directory,
    port,
    env: { WEBHOOK_ALLOWED_HOSTS: receiver.host },
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of the product under test
async function sql(query: string): Promise<any> {
  const answer = await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.rows;
}

/** Repeats a commit until it is acknowledged, or found to have succeeded. */
async function commit(rows: number): Promise<void> {
  const query = `insert into t select n from generate_series(${written}, ${written + rows - 1}) n; update lines set n = n + 1`;
  for (; ; await pause(100)) {
    const failure = await sql(query).then(
      () => '',
      (error: unknown) => String(error),
    );
    if (failure !== '' && !failure.includes('t_pkey')) continue;
    [written, commits] = [written + rows, commits + 1];
    return;
  }
}

interface Told {
  readonly position: string;
  readonly commit_timestamp: string;
  readonly record: { readonly id: number };
}

/** Follows the table, and records the events. */
interface Follower {
  readonly name: string;
  readonly ids: number[];
  interruptions: number;
  /** Reported reasons for missing changes. */
  readonly gaps: string[];
  /** Time of the last commit of which the follower has a row, in milliseconds since 1970. */
  lastCommit: number;
  /** Longest time from such a commit until the follower was back, in milliseconds. */
  longest: number;
  done: Promise<void>;
}

const isUpToDate = ({ ids }: Follower): boolean => ids.at(-1) === written - 1;

function follow(name: string, work: (follower: Follower) => Promise<void>): Follower {
  const follower: Follower = {
    name,
    ids: [],
    interruptions: 0,
    gaps: [],
    lastCommit: 0,
    longest: 0,
    done: Promise.resolve(),
  };
  follower.done = work(follower);
  return follower;
}

function noteReturn(follower: Follower): void {
  if (follower.lastCommit > 0)
    follower.longest = Math.max(follower.longest, Date.now() - follower.lastCommit);
}

/** @param staysMs milliseconds after which the client disconnects without notice */
async function followEvents(follower: Follower, staysMs: number): Promise<void> {
  const key = project.anon_key;
  const headers = { apikey: key, authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  let position: string | undefined;
  while (!isDone) {
    const given = position === undefined ? headers : { ...headers, 'last-event-id': position };
    const client = new HttpClient(plinth.baseUrl, given);
    const reader = await EventReader.open(client, `/p/${project.slug}/rest/v1/t?limit=0`).catch(() => null);
    if (reader?.status !== 200) {
      await reader?.close();
      await pause(200);
      continue;
    }
    noteReturn(follower);
    let [seen, isGone] = [0, false];
    void reader.ended.then(() => (isGone = true));
    const leaves = Date.now() + staysMs;
    while (!isGone && (Date.now() < leaves || position === undefined) && !isDone) {
      await pause(20);
      for (; seen < reader.events.length; seen += 1) {
        const { event, data } = reader.events[seen] as { event: string; data: Told };
        if (event === 'system' && JSON.stringify(data).includes('"gap"'))
          follower.gaps.push(JSON.stringify(data));
        if (event !== 'INSERT') continue;
        ({ position } = data);
        follower.lastCommit = Date.parse(data.commit_timestamp);
        follower.ids.push(data.record.id);
      }
    }
    await reader.close();
    follower.interruptions += 1;
  }
}

/** @param continues true to join again after the last position; otherwise the client reconnects by itself */
async function followChannel(follower: Follower, continues: boolean): Promise<void> {
  /** Positions of the last row, and of the last message, because a leaving client passes no rows on. */
  let [position, read]: (string | undefined)[] = [];
  /** Reads the position, which realtime-js does not pass on. */
  class Tap extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      this.on('message', (data: Buffer) => {
        const text = data.toString();
        if (text.includes('"reason":"gap"')) follower.gaps.push(text);
        read = /"position":"([^"]+)"/.exec(text)?.[1] ?? read;
      });
    }
  }
  let [client, channel]: [SupabaseClient | null, RealtimeChannel | null] = [null, null];
  let isJoined = false;
  const join = (): void => {
    client = createClient(`${plinth.baseUrl}/p/${project.slug}`, project.anon_key, {
      auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
      realtime: { transport: Tap as never },
    });
    const wanted = {
      event: 'INSERT',
      schema: 'public',
      table: 't',
      ...(position === undefined ? {} : { position }),
    };
    channel = client
      .channel('followers')
      .on(
        'postgres_changes',
        wanted as { event: 'INSERT'; schema: string },
        ({ new: row, commit_timestamp: at }) => {
          follower.lastCommit = Date.parse(at);
          follower.ids.push((row as { id: number }).id);
          position = read;
        },
      )
      .subscribe((status) => {
        const was = isJoined;
        isJoined = String(status) === 'SUBSCRIBED';
        if (isJoined) noteReturn(follower);
        if (was && !isJoined) follower.interruptions += 1;
      });
  };
  const leave = async (): Promise<void> => {
    if (channel) await channel.unsubscribe().catch(() => undefined);
    await client?.realtime.disconnect();
  };
  join();
  for (let since = Date.now(); !isDone; await pause(50)) {
    if (isJoined) since = Date.now();
    else if (continues && Date.now() - since > 2_000) {
      await leave();
      join();
      since = Date.now();
    }
  }
  await leave();
}

/** Kills PostgreSQL, unless it is still down after the last kill. */
function killDatabase(): void {
  const file = join(directory, 'data/postgres/postmaster.pid');
  const [pid] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  try {
    if (pid) process.kill(Number(pid), 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const KILLS: Record<string, () => Promise<unknown>> = {
  async plinth() {
    await plinth.end('SIGKILL');
    await start();
  },
  async PostgreSQL() {
    killDatabase();
  },
  async both() {
    const ended = plinth.end('SIGKILL');
    killDatabase();
    await ended;
    await start();
  },
  async sender() {
    await sql(
      `select pg_terminate_backend(active_pid) from pg_replication_slots where active_pid is not null`,
    );
  },
};

it(`kills in ${RUN_MS / 1_000} s lose nothing`, async () => {
  const began = Date.now();
  const followers = [
    follow('events', (one) => followEvents(one, Infinity)),
    follow('events of a client that is killed', (one) => followEvents(one, 4_000)),
    follow('supabase-js', (one) => followChannel(one, false)),
    follow('supabase-js that continues', (one) => followChannel(one, true)),
  ];
  const isReady = (): boolean => followers.every(({ ids }) => ids.length > 0);
  while (!isReady()) {
    if (Date.now() - began > LIMIT_MS)
      throw new Error(`the followers are told nothing: ${JSON.stringify(followers)}`);
    await commit(1);
    await pause(50);
  }
  const writing = (async (): Promise<void> => {
    for (let large = false; !isOver; await pause(20)) {
      const isHalf = Date.now() - began > RUN_MS / 2;
      await commit(isHalf && !large ? LARGE : randomInt(100) === 0 ? 3_000 : randomInt(1, 8));
      large ||= isHalf;
    }
  })();
  const kills = new Map<string, number>();
  const names = Object.keys(KILLS);
  while (Date.now() - began < RUN_MS) {
    await pause(randomInt(BETWEEN_KILLS_MS / 2, BETWEEN_KILLS_MS * 1.5));
    const name = names[randomInt(names.length)] ?? '';
    await KILLS[name]?.().catch((error: unknown) => {
      // Another kill has hit a process that this kill needs.
      if (name !== 'sender') throw error;
    });
    kills.set(name, (kills.get(name) ?? 0) + 1);
  }
  isOver = true;
  await writing;
  // A client that was joining need not get the last row, but must get a later row.
  for (const end = Date.now() + LIMIT_MS; !followers.every(isUpToDate) && Date.now() < end;) {
    await commit(1);
    await until(() => followers.every(isUpToDate), 5_000).catch(() => undefined);
  }
  isDone = true;
  await Promise.all(followers.map(({ done }) => done));
  const waiting = async (): Promise<number> =>
    (await sql(`select count(*)::int as n from hooks.deliveries where state <> 'delivered'`))[0].n;
  await until(async () => (await waiting().catch(() => 1)) === 0, LIMIT_MS);
  const seconds = Math.round((Date.now() - began) / 1_000);
  const arrivals = receiver.at('/lines').length;
  process.stdout.write(
    `${seconds} s, ${[...kills].map(([name, count]) => `${count} kills of ${name}`).join(', ')}; ` +
      `${written} rows in ${commits} commits; ${commits * LINES} webhooks, ${arrivals - commits * LINES} sent again\n` +
      followers
        .map(
          ({ name, ids, interruptions, gaps, longest }) =>
            `${name}: ${ids.length} rows of ${written - (ids[0] ?? 0)}, ${ids.filter((id, at) => at > 0 && id <= (ids[at - 1] ?? 0)).length} out of order, ${interruptions} interruptions, at most ${longest} ms behind, gaps: ${gaps.join(' ') || 'none'}\n`,
        )
        .join(''),
  );
  for (const { name, ids, gaps, longest } of followers) {
    const isOrdered = ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0));
    expect([name, isOrdered, ids.at(-1)]).toEqual([name, true, written - 1]);
    const isOwedAll = name !== 'supabase-js' && longest < KEPT_MS;
    if (isOwedAll) expect([name, ids.length, gaps]).toEqual([name, written - (ids[0] ?? 0), []]);
  }
  for (let id = 0; id < LINES; id += 1) {
    const all = receiver.at('/lines').filter(({ json }) => json.record.id === id);
    const firsts = [...new Set(all.map(({ json }) => json.record.n as number))];
    expect(firsts).toEqual(Array.from({ length: commits }, (_, index) => index + 1));
  }
});
