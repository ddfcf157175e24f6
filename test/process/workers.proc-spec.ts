/**
 * An install with WORKERS and Redis: metrics of all processes, workers that end or hang, a crash of PostgreSQL, and Realtime and
 * streams of tables with members at any process, through the end of access and an outage of Redis.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type RealtimeChannel, type SupabaseClient } from '@supabase/supabase-js';
import { WebSocket } from 'ws';
import { listen } from '../support/change-listener';
import { eventually, until } from '../support/eventually';
import { IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { freePort, PlinthProcess } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { CrashingInstall, CrashLoad } from './support/crashing-install';
import { isAlive } from './support/processes';

const REQUESTS = 40;
const SCRAPES = 8;
/** Number of members; connections are given to the workers in turn, so both have some. */
const MEMBERS = 6;

interface Project {
  readonly id: string;
  readonly slug: string;
  readonly anon_key: string;
  readonly service_role_key: string;
}

interface Session {
  readonly id: string;
  readonly token: string;
}

interface Member {
  readonly client: SupabaseClient;
  readonly channel: RealtimeChannel;
  readonly told: unknown[];
  readonly rows: number[];
  status: string;
}

(hasRedis ? describe : describe.skip)('an install with WORKERS (needs Redis)', () => {
  let directory: string;
  let redis: TestRedis;
  let plinth: PlinthProcess;
  let port: number;
  let metricsUrl: string;
  let project: Project;
  const members: Member[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-workers-'));
    redis = await TestRedis.start();
    port = await freePort();
    const metricsPort = await freePort();
    metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    plinth = await start({
      WORKERS: '2',
      REDIS_URL: redis.url,
      METRICS_PORT: String(metricsPort),
      WAL_ARCHIVE_DIR: join(directory, 'archive'),
    });
    project = (await plinth.admin.post('/admin/v1/projects', { name: 'Live', plan: 'enterprise' })).body;
    await sql(
      'create table notes (id int primary key); create policy everybody on notes using (true); create publication supabase_realtime for table notes',
    );
  }, 120_000);
  afterEach(async () => {
    for (const { client } of members.splice(0)) {
      await client.removeAllChannels();
      await client.realtime.disconnect();
    }
  });
  afterAll(async () => {
    await plinth?.end('SIGTERM');
    await redis?.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, 60_000);

  const start = (env: Record<string, string>): Promise<PlinthProcess> =>
    PlinthProcess.start({ dataDir: directory, port, env });

  /** A connection for each scrape, as a worker keeps those that it accepted. */
  const scrape = async (): Promise<string> => {
    const response = await fetch(metricsUrl, { headers: { connection: 'close' } });
    expect(response.status).toBe(200);
    return response.text();
  };
  const sumOf = (text: string, series: RegExp): number =>
    text
      .split('\n')
      .filter((line) => series.test(line))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

  const ADMIN = /^plinth_http_requests_total\{.*area="admin".*status="200"/;
  const workers = (): number[] =>
    readdirSync('/proc')
      .filter((name) => {
        try {
          const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
          const parent = Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
          return (
            parent === plinth.child.pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('main.js')
          );
        } catch {
          return false;
        }
      })
      .map(Number);

  async function sql(query: string): Promise<void> {
    const { status, text } = await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query });
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  }

  const http = (bearer?: string, apikey = project.anon_key): HttpClient =>
    new HttpClient(plinth.baseUrl, {
      apikey,
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    });

  const service = (): HttpClient => http(project.service_role_key, project.service_role_key);

  async function signUp(): Promise<Session> {
    const body = { email: `${Math.random()}@example.com`, password: 'correct horse' };
    const made = (await http().post(`/v1/auth/${project.id}/signup`, body)).body;
    return { id: made.user.id, token: made.session.access_token };
  }

  async function enter(topic: string, key: string, token?: string): Promise<Member> {
    const client = createClient(`${plinth.baseUrl}/p/${project.slug}`, project.anon_key, {
      auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
      realtime: { transport: WebSocket as never },
      ...(token === undefined ? {} : { accessToken: () => Promise.resolve(token) }),
    });
    if (token !== undefined) await client.realtime.setAuth();
    const channel = client.channel(topic, { config: { presence: { key } } });
    const member: Member = { client, channel, told: [], rows: [], status: '' };
    members.push(member);
    const notes = { event: 'INSERT', schema: 'public', table: 'notes' } as const;
    channel
      .on('broadcast', { event: '*' }, ({ payload }) => member.told.push(payload))
      .on('presence', { event: 'sync' }, () => undefined)
      .on('postgres_changes', notes, ({ new: row }) => member.rows.push((row as { id: number }).id))
      .subscribe((status) => (member.status = String(status)));
    await until(() => member.status === 'SUBSCRIBED');
    return member;
  }

  const room = async (topic: string): Promise<Member[]> => {
    const joined: Member[] = [];
    for (let n = 0; n < MEMBERS; n += 1) joined.push(await enter(topic, `m${n}`));
    return joined;
  };

  /** Inserts ten rows, which each member must receive in order. */
  async function tellRows(all: readonly Member[], from: number): Promise<void> {
    await sql(`insert into notes select generate_series(${from}, ${from + 9})`);
    const rows = Array.from({ length: 10 }, (_, n) => from + n);
    for (const { rows: told } of all) {
      await eventually(async () => expect(told.filter((id) => id >= from)).toEqual(rows));
    }
  }

  const keys = (member: Member): string[] => Object.keys(member.channel.presenceState()).sort();
  const all = Array.from({ length: MEMBERS }, (_, n) => `m${n}`);

  it('returns the sum of all processes for every scrape', async () => {
    const before = sumOf(await scrape(), ADMIN);
    await Promise.all(
      Array.from({ length: REQUESTS }, () =>
        plinth.admin.with({ connection: 'close' }).get('/admin/v1/projects'),
      ),
    );
    const counts: number[] = [];
    for (let n = 0; n < SCRAPES; n += 1) counts.push(sumOf(await scrape(), ADMIN) - before);
    expect(counts).toEqual(Array.from({ length: SCRAPES }, () => REQUESTS));
    const text = await scrape();
    // This metric is the worst value of all processes, not the sum.
    expect(sumOf(text, /^plinth_check_up\{check="redis"\}/)).toBe(1);
    expect(sumOf(text, /^plinth_memory_used_ratio /)).toBeLessThan(1);
    // This metric comes from the first process alone.
    expect(sumOf(text, /^plinth_worker_restarts_total/)).toBe(0);
    await eventually(async () =>
      expect(sumOf(await scrape(), /^plinth_wal_archive_age_seconds /)).toBeLessThan(10),
    );
    expect(sumOf(text, /^plinth_wal_archive_gaps /)).toBe(0);
  }, 60_000);

  it('sends broadcasts, presence and rows to the members at every process', async () => {
    const joined = await room('room');
    for (const { channel } of joined) expect(await channel.track({ here: true })).toBe('ok');
    for (const member of joined) await eventually(async () => expect(keys(member)).toEqual(all));
    const [first, ...others] = joined as [Member, ...Member[]];
    const sent = Array.from({ length: 20 }, (_, n) => ({ n }));
    for (const payload of sent) await first.channel.send({ type: 'broadcast', event: 'n', payload });
    for (const { told } of others) await eventually(async () => expect(told).toEqual(sent));
    const messages = [{ topic: 'room', event: 'http', payload: { by: 'http' } }];
    const posted = await http().post(`/p/${project.slug}/realtime/v1/api/broadcast`, { messages });
    expect(posted.status).toBe(202);
    for (const { told } of joined) await eventually(async () => expect(told.at(-1)).toEqual({ by: 'http' }));
    await tellRows(joined, 0);
    await first.client.realtime.disconnect();
    for (const member of others) await eventually(async () => expect(keys(member)).toEqual(all.slice(1)));
  });

  it('ends the sockets and streams of a session at every process', async () => {
    const [leaving, banned, staying] = [await signUp(), await signUp(), await signUp()];
    const of = async ({ token }: Session) => ({
      sockets: await Promise.all([0, 1, 2, 3].map((n) => enter('ends', `s${n}`, token))),
      streams: await Promise.all([0, 1, 2, 3].map(() => listen(http(token), '/rest/v1/notes?id=lt.0'))),
    });
    const [left, out, stays] = [await of(leaving), await of(banned), await of(staying)];
    expect((await http(leaving.token).post(`/v1/auth/${project.id}/logout`)).status).toBe(200);
    const ban = { banned_until: '2999-01-01T00:00:00Z' };
    expect((await service().patch(`/v1/auth/${project.id}/admin/users/${banned.id}`, ban)).status).toBe(200);
    for (const { sockets, streams } of [left, out]) {
      for (const socket of sockets) await until(() => socket.status === 'CLOSED');
      expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual([true, true, true, true]);
    }
    expect(stays.sockets.map(({ status }) => status)).toEqual(Array<string>(4).fill('SUBSCRIBED'));
    for (const stream of stays.streams) await stream.close();
  });

  it('continues while Redis is down, and reaches all members again afterwards', async () => {
    const joined = await room('redis');
    const [first, ...others] = joined as [Member, ...Member[]];
    const user = await signUp();
    const signedIn = await Promise.all([0, 1].map((n) => enter('redis-ends', `s${n}`, user.token)));
    const [leaves, stays] = [await enter('redis-left', 'leaves'), await enter('redis-left', 'stays')];
    for (const { channel } of [leaves, stays]) expect(await channel.track({ here: true })).toBe('ok');
    await eventually(async () => expect(keys(stays)).toEqual(['leaves', 'stays']));
    await redis.stop();
    expect(await leaves.channel.untrack()).toBe('ok');
    // Rows and the end of access come from the database, so neither needs Redis.
    await tellRows(joined, 100);
    expect((await http(user.token).post(`/v1/auth/${project.id}/logout`)).status).toBe(200);
    for (const socket of signedIn) await until(() => socket.status === 'CLOSED');
    for (const { channel } of joined) expect(await channel.track({ here: true })).toBe('ok');
    redis = await redis.startAgain();
    // Members who joined while Redis was down are known to all.
    for (const member of joined) await eventually(async () => expect(keys(member)).toEqual(all));
    await eventually(async () => expect(keys(stays)).toEqual(['stays']));
    await eventually(async () => {
      await first.channel.send({ type: 'broadcast', event: 'again', payload: { again: true } });
      for (const { told } of others) expect(told).toContainEqual({ again: true });
    });
    expect(joined.map(({ status }) => status)).toEqual(Array<string>(MEMBERS).fill('SUBSCRIBED'));
  });

  /** A worker that was not replaced yet. */
  let served: number;

  it('keeps the counts of a worker that was killed, and counts its restart', async () => {
    const before = sumOf(await scrape(), ADMIN);
    const [killed, kept] = workers() as [number, number];
    served = kept;
    process.kill(killed, 'SIGKILL');
    await eventually(async () => {
      const text = await scrape();
      expect(sumOf(text, /^plinth_worker_restarts_total\{reason="ended"\}/)).toBe(1);
      expect(sumOf(text, ADMIN)).toBe(before);
      expect(workers()).toHaveLength(2);
    }, 30_000);
  }, 60_000);

  it('a worker that hangs is replaced, and its connections end', async () => {
    process.kill(served, 'SIGSTOP');
    // Some requests reach the worker that hangs, and wait for the end of the connection.
    const asked = Array.from({ length: 12 }, () =>
      plinth.admin
        .with({ connection: 'close' })
        .get('/health/live')
        .then(
          ({ status }) => status,
          () => 'ended',
        ),
    );
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200, 'ended']));
    expect(plinth.printed).toContain('has not answered');
    await eventually(async () => {
      expect(workers().filter((pid) => pid !== served)).toHaveLength(2);
      expect((await plinth.admin.get('/health/ready')).status).toBe(200);
    }, 30_000);
  }, 120_000);

  it('PostgreSQL is restarted by the first process after a crash, without the loss of an acknowledged change', async () => {
    const install = await CrashingInstall.of(directory, plinth);
    const load = new CrashLoad(install);
    for (const signal of IN_SOAK ? (['SIGKILL', 'SIGQUIT'] as const) : (['SIGKILL'] as const)) {
      await load.progress();
      process.kill(install.postmaster, signal);
      await install.servesAgain();
    }
    await load.progress();
    await load.expectNothingLost();
    await install.expectEverythingRecovered();
  }, 180_000);

  it('completes a request when SIGTERM reaches every process, as from systemd; a stream continues after the last event when all were restarted', async () => {
    const stream = await listen(service(), '/rest/v1/notes?id=gte.200');
    expect(stream.status).toBe(200);
    await sql('insert into notes select generate_series(200, 204)');
    await until(() => stream.of('INSERT').length === 5);
    const position = stream.of('INSERT')[2].position as string;
    const query = `select 'finished' as state from pg_sleep(3)`;
    const request = plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query });
    await eventually(async () => {
      const activity = await plinth.admin.get(`/admin/v1/projects/${project.id}/database/activity`);
      expect(activity.text).toContain('pg_sleep');
    });
    const all = workers();
    for (const pid of all) process.kill(pid, 'SIGTERM');
    expect(await plinth.end('SIGTERM')).toBe(0);
    const { status, headers, body } = await request;
    expect({ status, rows: body.rows }).toEqual({ status: 200, rows: [{ state: 'finished' }] });
    // The client must not reuse a connection that is about to be closed.
    expect(headers.get('connection')).toBe('close');
    expect(all.filter(isAlive)).toEqual([]);
    expect(readdirSync(join(directory, 'data/postgres'))).not.toContain('postmaster.pid');
    expect(await stream.ended).toBe(true);
    // One process continues as well as several.
    plinth = await start({});
    await sql('insert into notes select generate_series(205, 209)');
    const again = await listen(service(), '/rest/v1/notes?id=gte.200', { 'last-event-id': position });
    await until(() => again.of('INSERT').length >= 7);
    expect(again.of('row')).toEqual([]);
    expect(again.of('INSERT').map(({ record }) => record.id)).toEqual([203, 204, 205, 206, 207, 208, 209]);
    await again.close();
  });
});
