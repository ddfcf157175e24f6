/** Reads of table REST on a replica that streams from the primary. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProjectPools } from '../../src/database/pools/project-pools';
import { ReplicaSets } from '../../src/database/replicas/replica-sets';
import { AdminClient } from '../../src/cli/admin-client';
import { runCli } from '../../src/cli/run-cli';
import { cliEnvironment } from '../support/cli-environment';
import { eventually } from '../support/eventually';
import type { HttpAnswer, HttpClient } from '../support/http-client';
import { ADMIN_KEY, TestPlinth } from '../support/plinth';
import { hasPostgres, PostgresServer } from '../support/postgres-server';
import type { TestProject } from '../support/test-project';

const TOKEN = 'x-consistency-token';
const FROM_REPLICA = { prefer: 'read=replica' };

(hasPostgres ? describe : describe.skip)('read replicas', () => {
  let directory: string;
  let primary: PostgresServer;
  let replica: PostgresServer;
  let plinth: TestPlinth;
  /** Another process of the same installation. */
  let other: TestPlinth;
  let project: TestProject;
  let nextId = 1;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-read-replicas-'));
    chmodSync(directory, 0o755);
    primary = await PostgresServer.primary(directory);
    replica = await primary.addStandby(directory, 'replica');
    plinth = await TestPlinth.start({ databaseUrl: primary.url });
    other = await TestPlinth.start({ databaseUrl: primary.url, replicaOf: plinth });
    project = await plinth.createProject();
    await project.sql(`create table notes (id int primary key);
      create policy everybody on notes using (true) with check (true);
      create view place with (security_invoker) as select inet_server_port() as port;
      create function place_of() returns int language sql stable as 'select inet_server_port()'`);
    const changed = await plinth.admin.patch('/admin/v1/servers/platform', { replicas: [replica.address] });
    expect(changed).toMatchObject({ status: 200, body: { replicas: [{ port: replica.port, fault: null }] } });
  }, 120_000);
  afterAll(async () => {
    await other.stop();
    await plinth.stop();
    await Promise.all([primary.stop(), replica.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);

  const portOf = async (
    headers: Record<string, string>,
    http: HttpClient = project.anon,
  ): Promise<number> => {
    const answer = await http.get('/rest/v1/place', { headers });
    expect(answer).toMatchObject({ status: 200, body: [{ port: expect.any(Number) }] });
    return answer.body[0].port as number;
  };
  const write = (): Promise<HttpAnswer> => project.anon.post('/rest/v1/notes', { id: (nextId += 1) });
  /** Waits until the replica is known to be up to date, which takes a second after the list of servers has changed. */
  const replicaIsUsed = (): Promise<void> =>
    eventually(async () => expect(await portOf(FROM_REPLICA)).toBe(replica.port), 20_000);
  const pause = (): Promise<unknown> => replica.query('select pg_wal_replay_pause()');
  const resume = (): Promise<unknown> => replica.query('select pg_wal_replay_resume()');

  it('reads the primary unless the client or the project requests otherwise', async () => {
    await replicaIsUsed();
    expect(await portOf({})).toBe(primary.port);
    const called = await project.anon.get('/rest/v1/rpc/place_of', { headers: FROM_REPLICA });
    expect(called).toMatchObject({ status: 200, body: replica.port });
    const path = `/admin/v1/projects/${project.id}`;
    await plinth.admin.patch(path, { settings: { read_from: 'replica' } });
    await eventually(async () => expect(await portOf({})).toBe(replica.port));
    expect(await portOf({ prefer: 'read=primary' })).toBe(primary.port);
    await plinth.admin.patch(path, { settings: { read_from: 'primary' } });
    await eventually(async () => expect(await portOf({})).toBe(primary.port));
  });

  it('shows a client its last write if it sends the token of the write, from the replica once the replica has it', async () => {
    await replicaIsUsed();
    for (let round = 0; round < 30; round += 1) {
      const written = await write();
      const token = written.headers.get(TOKEN) ?? '';
      expect({ status: written.status, token }).toMatchObject({
        status: 201,
        token: expect.stringMatching(/^\w{8}\.\w+\/\w+$/),
      });
      const { body } = await project.anon.get(`/rest/v1/notes?id=eq.${nextId}`, {
        headers: { [TOKEN]: token },
      });
      expect(body).toEqual([{ id: nextId }]);
      if (round === 0)
        await eventually(async () => expect(await portOf({ [TOKEN]: token })).toBe(replica.port));
    }
    const foreign = '00000000.0/1';
    expect(await portOf({ [TOKEN]: foreign })).toBe(primary.port);
  });

  it('needs one round trip for a read on the replica, and for a write with its token', async () => {
    await replicaIsUsed();
    const pools = plinth.app.get(ProjectPools);
    /** The least of several counts, because background work uses the pools too. */
    const costOf = async (work: () => Promise<unknown>): Promise<number> => {
      const costs: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const before = pools.stats().roundTrips;
        await work();
        costs.push(pools.stats().roundTrips - before);
      }
      return Math.min(...costs);
    };
    await write();
    expect(await costOf(write)).toBe(1);
    expect(await costOf(() => portOf(FROM_REPLICA))).toBe(1);
  });

  it('reads the primary without an error or a second attempt while the replica is behind', async () => {
    await replicaIsUsed();
    await pause();
    try {
      const repeated = plinth.app.get(ReplicaSets).stats().repeated;
      const written = await write();
      const headers = { [TOKEN]: written.headers.get(TOKEN) ?? '' };
      const { body } = await project.anon.get(`/rest/v1/notes?id=eq.${nextId}`, { headers });
      expect(body).toEqual([{ id: nextId }]);
      expect(plinth.app.get(ReplicaSets).stats().repeated).toBe(repeated);
      // Without a token, the replica may be read until it is a second behind.
      await eventually(async () => expect(await portOf(FROM_REPLICA)).toBe(primary.port));
    } finally {
      await resume();
    }
    await replicaIsUsed();
  });

  it.each(['up to date', 'behind'])(
    'refuses an ended session immediately in every process, with a replica that is %s',
    async (state) => {
      const user = await project.signUp();
      const clients = [user.http, user.http.at(other.baseUrl)];
      for (const client of clients)
        await eventually(async () => expect(await portOf(FROM_REPLICA, client)).toBe(replica.port), 20_000);
      if (state === 'behind') await pause();
      try {
        expect((await user.http.post(`${project.auth}/logout`)).status).toBe(200);
        const answers = await Promise.all(
          [...clients, ...clients, ...clients].map((client) =>
            client.get('/rest/v1/place', { headers: FROM_REPLICA }),
          ),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(401));
      } finally {
        if (state === 'behind') await resume();
      }
    },
  );

  it('answers a sign-out as soon as every process knows of it, while the replica is down', async () => {
    await replicaIsUsed();
    const user = await project.signUp();
    await replica.kill();
    try {
      const before = { ...plinth.app.get(ReplicaSets).revocationStats() };
      expect((await user.http.post(`${project.auth}/logout`)).status).toBe(200);
      const { notified, waited } = plinth.app.get(ReplicaSets).revocationStats();
      expect({ notified, waited }).toEqual({ notified: before.notified + 1, waited: before.waited });
    } finally {
      await replica.start();
    }
  });

  it('asks the primary for a session or table that the replica does not have yet', async () => {
    await replicaIsUsed();
    await pause();
    try {
      const user = await project.signUp();
      expect(await portOf(FROM_REPLICA, user.http)).toBe(primary.port);
      await project.sql('create table fresh as select 1 as n');
      const { status, body } = await project.service.get('/rest/v1/fresh', { headers: FROM_REPLICA });
      expect({ status, body }).toEqual({ status: 200, body: [{ n: 1 }] });
    } finally {
      await resume();
    }
  });

  it('reads the primary while the replica is down or hangs, and the replica again when it is back', async () => {
    await replicaIsUsed();
    await replica.kill();
    for (let round = 0; round < 20; round += 1) expect(await portOf(FROM_REPLICA)).toBe(primary.port);
    await replica.start();
    await replicaIsUsed();
    replica.signal('SIGSTOP');
    try {
      // The first reads wait until the replica is found to be silent.
      const ports = await Promise.all([...Array(5)].map(() => portOf(FROM_REPLICA)));
      expect(ports).toEqual(Array(5).fill(primary.port));
    } finally {
      replica.signal('SIGCONT');
    }
    await replicaIsUsed();
  }, 60_000);

  /** Findings of the doctor about the replica. */
  const findings = async (): Promise<{ status: string; message: string }[]> => {
    const { body } = await plinth.admin.post('/admin/v1/doctor', {});
    return body.findings.filter(({ check }) => check === 'replicas');
  };
  const listed = async (): Promise<string> => {
    let out = '';
    const environment = cliEnvironment({
      connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
      out: (text) => void (out += text),
    });
    expect(await runCli(['server', 'list'], environment)).toBe(0);
    return out;
  };

  it('is checked by the doctor and in the list of servers: streaming, behind, down, of another cluster', async () => {
    expect(await findings()).toMatchObject([
      { status: 'ok', message: expect.stringContaining(`${replica.address} of "platform" streams`) },
    ]);
    expect(await listed()).toContain('1 of 1 up');
    await pause();
    try {
      await write();
      expect(await findings()).toMatchObject([
        { status: 'warning', message: expect.stringContaining('behind') },
      ]);
    } finally {
      await resume();
    }
    await replica.kill();
    try {
      expect(await findings()).toMatchObject([
        { status: 'failed', message: expect.stringContaining('cannot be asked') },
      ]);
      expect(await listed()).toContain('0 of 1 up');
    } finally {
      await replica.start();
    }
    const elsewhere = mkdtempSync(join(directory, 'foreign-'));
    chmodSync(elsewhere, 0o755);
    const foreign = await PostgresServer.primary(elsewhere);
    try {
      await plinth.admin.patch('/admin/v1/servers/platform', {
        replicas: [foreign.address, primary.address],
      });
      expect(await findings()).toMatchObject([
        { status: 'failed', message: expect.stringContaining('a different cluster') },
        { status: 'ok', message: expect.stringContaining('is the primary at present') },
      ]);
    } finally {
      await plinth.admin.patch('/admin/v1/servers/platform', { replicas: [replica.address] });
      await foreign.stop();
    }
  }, 60_000);

  it('does not read a server that was promoted', async () => {
    await replicaIsUsed();
    await replica.promote();
    for (let round = 0; round < 20; round += 1) expect(await portOf(FROM_REPLICA)).toBe(primary.port);
    const { body } = await plinth.admin.get('/admin/v1/servers');
    expect(body[0]?.replicas).toMatchObject([{ reachable: false, fault: 'it is not a standby' }]);
    expect(await findings()).toMatchObject([
      { status: 'failed', message: expect.stringContaining('takes writes') },
    ]);
  });
});
