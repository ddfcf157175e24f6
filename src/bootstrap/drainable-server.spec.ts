import { once } from 'node:events';
import type { Express } from 'express';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { DrainableServer } from './drainable-server';
import { HttpAdapter } from './http-adapter';

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

let server: DrainableServer;
let client: Socket;

beforeEach(async () => {
  const adapter = new HttpAdapter();
  adapter.getInstance<Express>().get('/', (_request, response) => void response.send('done'));
  adapter.initHttpServer();
  server = adapter.getHttpServer() as DrainableServer;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.setEncoding('utf8');
  await once(client, 'connect');
});

afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

async function ask(): Promise<string> {
  client.write(REQUEST);
  const [answer] = (await once(client, 'data')) as [string];
  return answer;
}

it('keeps a connection until it is told to end, and then says so on it', async () => {
  expect(await ask()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: keep-alive\r\n.*done$/s);
  const drained = server.drain(60_000);
  expect(await ask()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n.*done$/s);
  await Promise.all([drained, client.closed || once(client, 'close')]);
});

it.each(['asked', 'not asked'])('closes a connection on which nothing runs: %s', async (kind) => {
  if (kind === 'asked') await ask();
  client.resume();
  await Promise.all([server.drain(60_000), once(client, 'close')]);
});
