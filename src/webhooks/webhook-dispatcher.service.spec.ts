import { createServer, type Socket } from 'node:net';
import { eventually } from '../../test/support/eventually';
import { WebhookDispatcher } from './webhook-dispatcher.service';

it('renews the leases of all projects while the database of one does not answer', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.resume()));
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const { port } = silent.address() as { port: number };
  const databaseOf = (id: string): object => ({
    host: '127.0.0.1',
    port: id === 'slow' ? port : 1,
    database: id,
    user: id,
    password: id,
    ssl: false,
    hosts: [],
  });
  const revisions: Record<string, number> = { slow: 1, quick: 1 };
  const read: Record<string, number> = { slow: 0, quick: 0 };
  let [renewals, release] = [0, (): void => {}];
  const silence = new Promise<never[]>((done) => (release = () => done([])));
  const list = {
    lease: () => Promise.resolve(['slow', 'quick'].slice(0, 2 * ++renewals)),
    add: () => Promise.resolve(),
    release: () => Promise.resolve(),
    setState: () => Promise.resolve(),
    drop: () => Promise.resolve(),
  };
  const registry = {
    findById: (id: string) =>
      Promise.resolve({ id, slug: id, database: databaseOf(id), revision: revisions[id] }),
  };
  const deliveries = {
    lanes: ({ id }: { id: string }) => {
      read[id] = (read[id] ?? 0) + 1;
      return id === 'slow' ? silence : Promise.resolve([]);
    },
    purge: () => Promise.resolve(),
    bound: () => Promise.resolve(0),
    state: () => Promise.resolve({ waiting: 0, failed: 0, oldestAt: null, hasWebhooks: true }),
  };
  const schedules = { list: ({ id }: { id: string }) => (id === 'slow' ? silence : Promise.resolve([])) };
  const projects = { onRestored: () => {} };
  const config = { allowedHosts: [], timeoutMs: 10_000, retryDelayMs: 5_000 };
  const [sender, clock] = [{ timeoutMs: 10_000 }, { now: () => Date.now() }];
  const tools = [list, registry, deliveries, sender, {}, schedules, {}, projects, clock, {}, config];
  const dispatcher = Reflect.construct(WebhookDispatcher, tools) as WebhookDispatcher;
  const renewedFurther = async (): Promise<void> => {
    const before = renewals;
    await eventually(async () => {
      await dispatcher.announce('quick');
      expect(renewals).toBeGreaterThan(before + 1);
    });
  };
  try {
    dispatcher.onApplicationBootstrap();
    await eventually(async () => expect(Object.values(read)).not.toContain(0));
    await eventually(async () => expect(sockets).toHaveLength(1));
    await renewedFurther();
    // The connection has not been given up yet.
    expect(sockets.some(({ closed }) => closed)).toBe(false);
    // The project moves to another server: hanging work is ended without waiting for it.
    revisions.slow = 2;
    revisions.quick = 2;
    const before = read.quick ?? 0;
    await renewedFurther();
    await eventually(async () => expect(read.quick).toBeGreaterThan(before));
  } finally {
    release();
    silent.close();
    for (const socket of sockets) socket.destroy();
    await dispatcher.beforeApplicationShutdown();
  }
});
