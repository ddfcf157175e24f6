import { once } from 'node:events';
import type { Express } from 'express';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DrainableServer } from './drainable-server';
import { closeLingering } from '../admission/lingering-close';
import { HttpAdapter } from './http-adapter';

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

let server: DrainableServer;
let client: Socket;
/** The server's end of it. */
let peer: Socket;

beforeEach(async () => {
  const adapter = new HttpAdapter({
    maxClientConnections: 100,
    minBodyRate: 1_024,
    bodyRateWindowMs: 30_000,
    requestLog: false,
    traceEndpoint: null,
  });
  adapter.getInstance<Express>().all('/', (request, response) => {
    closeLingering(request, response);
    response.send('done');
  });
  adapter.initHttpServer();
  server = adapter.getHttpServer() as DrainableServer;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.setEncoding('utf8');
  await once(client, 'connect');
  [peer] = (await connected) as [Socket];
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

/** Sends something that has no answer, and waits until the server has it. */
async function begin(text: string): Promise<void> {
  const before = peer.bytesRead;
  client.write(text);
  while (peer.bytesRead < before + text.length) await nextTurn();
}

it('keeps a connection until the server stops, and then sends Connection: close', async () => {
  expect(await ask()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: keep-alive\r\n.*done$/s);
  const drained = server.drain(60_000);
  expect(await ask()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n.*done$/s);
  await Promise.all([drained, client.closed || once(client, 'close')]);
});

it('keeps idle connections for the time given, until a further call shortens it', async () => {
  await ask();
  const drained = server.drain(60_000, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(client.destroyed).toBe(false);
  await Promise.all([drained, server.drain(60_000), once(client, 'close')]);
});

it.each([
  ['not asked', false, ''],
  ['asked', true, ''],
  ['half a head', false, REQUEST.slice(0, 20)],
  ['half a head after a request', true, REQUEST.slice(0, 20)],
])('closes a connection without a request in progress: %s', async (_, isAsked, begun) => {
  if (isAsked) await ask();
  await begin(begun);
  client.resume();
  await Promise.all([server.drain(60_000), once(client, 'close')]);
});

it('lets a client whose body was refused read its response to the end', async () => {
  client.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nx');
  await once(client, 'data');
  const unused = connect((server.address() as AddressInfo).port, '127.0.0.1');
  unused.resume();
  await once(unused, 'connect');
  const drained = server.drain(60_000);
  await once(unused, 'close');
  expect(peer.destroyed).toBe(false);
  client.write('y');
  await Promise.all([drained, once(client, 'close')]);
});
