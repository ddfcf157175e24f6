/** A slow server is not mistaken for an unresponsive server, which would refuse the requests of all projects. */
import { answers } from '../../src/database/pools/one-off-connection';
import { PostgresProxy } from '../support/postgres-proxy';

let proxy: PostgresProxy;
let connectionString: string;

beforeAll(async () => {
  const url = new URL(process.env.PLINTH_TEST_DATABASE_URL ?? '');
  proxy = await PostgresProxy.start(url);
  connectionString = proxy.through(url).href;
});
afterAll(() => proxy.stop());

it('a server that needs more than half a second for each answer does answer', async () => {
  proxy.lag = 600;
  expect(await answers({ connectionString })).toBe(true);
});

it('a server whose answers are lost does not', async () => {
  proxy.lag = 0;
  proxy.freeze();
  expect(await answers({ connectionString })).toBe(false);
});
