/**
 * Overload: requests that could not be served in time are refused immediately, and one project does not affect others.
 */
import { getPriority } from 'node:os';
import { DatabaseFault } from '../../src/common/errors/database-fault';
import { PooledConnection } from '../../src/database/pools/pooled-connection';
import { ProjectDatabase } from '../../src/database/pools/project-database';
import { ProjectPools } from '../../src/database/pools/project-pools';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { eventually } from '../support/eventually';
import { TestPlinth } from '../support/plinth';

const LIMITS = {
  total: 4,
  perProject: 1,
  workingAtOnce: 1,
  // Much longer than the test, so no request is refused after a wait.
  acquireTimeoutMs: 600_000,
  idleTimeoutMs: 60_000,
  maxWaiting: 3,
  stalledMs: 60_000,
};

let plinth: TestPlinth;
let flooded: ProjectDatabase;
let other: ProjectDatabase;
let pools: ProjectPools;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  const registry = plinth.app.get(ProjectRegistry);
  const databases = [];
  for (let n = 0; n < 2; n += 1) {
    const { id } = await plinth.createProject();
    databases.push((await registry.findById(id))?.database);
  }
  [flooded, other] = databases as [ProjectDatabase, ProjectDatabase];
  pools = new ProjectPools(LIMITS);
});
afterAll(async () => {
  await pools.close();
  await plinth.stop();
});

const answer = async (connection: PooledConnection): Promise<number> => {
  const [result] = await connection.pipeline([{ text: 'select 42 as n' }]);
  return result?.rows[0]?.n as number;
};

const processId = (connection: PooledConnection): Promise<number> =>
  connection.pipeline([{ text: 'select' }]).then(() => connection.processId);

/** Longer than a project waits for its own connection before it opens another. */
const slowly = (connection: PooledConnection): Promise<number> =>
  connection.pipeline([{ text: 'select pg_sleep(0.1)' }]).then(() => connection.processId);

describe('ProjectPools', () => {
  it("refuses requests beyond the queue's limit, and serves the rest", async () => {
    // Opens the connection, for which the first request would also wait.
    await pools.use(flooded, answer);
    let release = (): void => undefined;
    const held = pools.use(flooded, () => new Promise<void>((resolve) => (release = resolve)));
    const waiting = Array.from({ length: LIMITS.maxWaiting }, () => pools.use(flooded, answer));

    const refused: unknown = await pools.use(flooded, answer).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DatabaseFault);
    expect(refused).toMatchObject({ kind: 'no_free_connection' });
    // Other projects have their own connections.
    expect(await pools.use(other, answer)).toBe(42);

    release();
    await held;
    expect(await Promise.all(waiting)).toEqual([42, 42, 42]);
  });

  it('also lends the other connections while the freely lent connections are slow', async () => {
    const wide = new ProjectPools({ ...LIMITS, perProject: 3 });
    const releases: (() => void)[] = [];
    const hold = (): Promise<void> =>
      wide.use(flooded, () => new Promise((resolve) => void releases.push(resolve)));
    const held = [hold(), hold()];
    // This request succeeds only because two held connections no longer count; only one is lent freely.
    expect(await wide.use(flooded, answer)).toBe(42);
    expect(releases).toHaveLength(2);
    releases.forEach((release) => release());
    await Promise.all(held);
    await wide.close();
  });

  it('refuses a request with old credentials, but not a newer request that waits behind it', async () => {
    const wide = new ProjectPools({ ...LIMITS, perProject: 2, workingAtOnce: 2 });
    const old = wide.use({ ...flooded, password: 'replaced' }, answer);
    const recent = wide.use(flooded, answer);
    await expect(old).rejects.toMatchObject({ kind: 'login_refused' });
    expect(await recent).toBe(42);
    await wide.close();
  });

  it('opens no more connections while the fast connections can serve all requests', async () => {
    const wide = new ProjectPools({ ...LIMITS, total: 20, perProject: 20, maxWaiting: 100 });
    // No request is slow: each returns its connection before the clock advances.
    const crowd = Array.from({ length: 100 }, () => wide.use(flooded, () => Promise.resolve()));
    await Promise.all(crowd);
    expect(wide.stats().open).toBeLessThan(20);
    await wide.close();
  });

  it("waits for its own connection instead of closing another project's only one", async () => {
    const narrow = new ProjectPools({
      ...LIMITS,
      total: 2,
      perProject: 2,
      workingAtOnce: 2,
      maxWaiting: 100,
    });
    const [own, others] = [await narrow.use(flooded, processId), await narrow.use(other, processId)];
    const used = await Promise.all(Array.from({ length: 5 }, () => narrow.use(flooded, processId)));
    expect(new Set(used)).toEqual(new Set([own]));
    expect(await narrow.use(other, processId)).toBe(others);
    await narrow.close();
  });

  it('leaves a project its second connection if closing it would only give two to another project', async () => {
    const narrow = new ProjectPools({ ...LIMITS, total: 3, perProject: 2, workingAtOnce: 2 });
    const both = await Promise.all([0, 1].map(() => narrow.use(other, slowly)));
    await narrow.use(flooded, processId);
    const used = await Promise.all(Array.from({ length: 2 }, () => narrow.use(flooded, slowly)));
    expect(new Set(used).size).toBe(1);
    expect(new Set(await Promise.all([0, 1].map(() => narrow.use(other, slowly))))).toEqual(new Set(both));
    await narrow.close();
  });

  it('gives a connection of a busy project to a project without one, before the busy project is idle', async () => {
    const single = new ProjectPools({ ...LIMITS, total: 1, maxWaiting: 1_000 });
    let served = 0;
    const busy = Array.from({ length: 150 }, () =>
      single.use(flooded, async (connection) => {
        await connection.pipeline([{ text: 'select pg_sleep(0.01)' }]);
        served += 1;
      }),
    );
    expect(await single.use(other, answer)).toBe(42);
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThan(busy.length);
    await Promise.all(busy);
    await single.close();
  });

  it('serves requests before background work, and opens no connection for background work', async () => {
    const wide = new ProjectPools({ ...LIMITS, perProject: 2, workingAtOnce: 2 });
    await expect(wide.useSpare(flooded, answer)).rejects.toMatchObject({ kind: 'no_free_connection' });
    await wide.use(flooded, answer);
    const order: string[] = [];
    let next: Promise<unknown> | undefined;
    const spare = wide.useSpare(flooded, async (connection) => {
      order.push('work');
      // A request that arrives during the work does not open a connection immediately.
      next = wide.use(flooded, answer);
      expect(wide.stats().open).toBe(1);
      await answer(connection);
    });
    const first = wide.use(flooded, (connection) => {
      order.push('request');
      return answer(connection);
    });
    await Promise.all([first, spare]);
    expect(order).toEqual(['request', 'work']);
    expect(await next).toBe(42);
    await wide.close();
  });

  it('opens one connection for the first request to a project, and reads its schema on the same connection', async () => {
    const project = await plinth.createProject();
    await project.sql('create table notes (id int)');
    const all = plinth.app.get(ProjectPools);
    const before = all.stats().open;
    const { status } = await project.anon.get('/rest/v1/notes');
    expect(status).toBe(200);
    expect(all.stats().open - before).toBe(1);
  });

  (process.platform === 'linux' ? it : it.skip)(
    'lowers the priority of the processes of a project that takes much of the machine while another is in use',
    async () => {
      const shared = new ProjectPools({ ...LIMITS, perProject: 2, workingAtOnce: 2, sharedCores: 0.1 });
      const neighbour = await shared.use(other, processId);
      // The process ids of another server belong to other processes here.
      const elsewhere = { ...flooded, key: 'elsewhere', server: 'another' };
      const busy = new Map<ProjectDatabase, number>();
      let isOn = true;
      const flood = async (database: ProjectDatabase): Promise<void> => {
        while (isOn)
          await shared.use(database, async (connection) => {
            busy.set(database, connection.processId);
            await connection.pipeline([{ text: 'select count(*) from generate_series(1, 100000)' }]);
          });
      };
      const priorityOf = (database: ProjectDatabase): number => getPriority(busy.get(database));
      const floods = Promise.all([flood(flooded), flood(elsewhere)]);
      await eventually(async () => {
        await shared.use(other, answer);
        expect(priorityOf(flooded)).toBeGreaterThan(0);
      });
      expect(priorityOf(elsewhere)).toBe(0);
      expect(getPriority(neighbour)).toBe(0);
      isOn = false;
      await floods;
      // Its priority cannot be raised again, so the connection is closed once the project is quiet.
      await eventually(async () => {
        const current = await shared.use(flooded, processId);
        expect(getPriority(current)).toBe(0);
      });
      await shared.close();
    },
  );

  it('opens no connection after it was closed', async () => {
    const closed = new ProjectPools(LIMITS);
    expect(await closed.use(flooded, answer)).toBe(42);
    await closed.close();
    await expect(closed.use(flooded, answer)).rejects.toMatchObject({ kind: 'no_free_connection' });
    expect(closed.stats().open).toBe(0);
  });
});
