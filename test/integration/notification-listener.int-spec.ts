/** A listening connection that a network drops silently is replaced, so that lost messages are noticed. */
import { Client } from 'pg';
import { NotificationListener } from '../../src/database/listen/notification-listener';
import { until } from '../support/eventually';
import { PostgresProxy } from '../support/postgres-proxy';

const CHANNEL = 'plinth_listener_test';

let proxy: PostgresProxy;
let sender: Client;
let listener: NotificationListener | undefined;

beforeAll(async () => {
  const url = process.env.PLINTH_TEST_DATABASE_URL ?? '';
  proxy = await PostgresProxy.start(new URL(url));
  sender = new Client({ connectionString: url });
  await sender.connect();
});
afterAll(async () => {
  await listener?.stop();
  await sender.end();
  await proxy.stop();
});

it('connects again after a network dropped everything, and reports the gap', async () => {
  const received: string[] = [];
  let connections = 0;
  const through = proxy.through(new URL(process.env.PLINTH_TEST_DATABASE_URL ?? ''));
  listener = new NotificationListener(
    { connectionString: through.href },
    CHANNEL,
    { onNotification: (payload) => received.push(payload), onListening: () => (connections += 1) },
    { interval: 200, timeout: 500, longestGap: 60_000 },
  );
  await listener.start();
  await sender.query(`notify ${CHANNEL}, 'before'`);
  await until(() => received.includes('before'));
  expect(listener.listening).toBe(true);

  proxy.freeze();
  await until(() => listener?.listening === false);
  await sender.query(`notify ${CHANNEL}, 'lost'`);

  proxy.thaw();
  await until(() => connections === 2);
  await sender.query(`notify ${CHANNEL}, 'after'`);
  await until(() => received.includes('after'));
  expect(received).toEqual(['before', 'after']);
});

it('reports a long interruption, so that cached values are no longer trusted', async () => {
  let longGaps = 0;
  const isolated = new NotificationListener(
    { connectionString: proxy.through(new URL(process.env.PLINTH_TEST_DATABASE_URL ?? '')).href },
    CHANNEL,
    { onNotification: () => undefined, onListening: () => undefined, onLongGap: () => (longGaps += 1) },
    { interval: 200, timeout: 300, longestGap: 500 },
  );
  try {
    await isolated.start();
    expect(longGaps).toBe(0);
    proxy.freeze();
    await until(() => longGaps > 0);
    expect(isolated.listening).toBe(false);
  } finally {
    proxy.thaw();
    await isolated.stop();
  }
});
