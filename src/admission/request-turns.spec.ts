import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { RequestTurns } from './request-turns';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let client: Socket;
/** Paths of the requests that were started, and of the responses that emitted `close`, in order. */
let started: string[];
let closed: string[];

afterEach(() => {
  client.destroy();
  server.close();
});

/** Sends requests for the paths in one piece. */
async function send(paths: readonly string[], handler: Handler): Promise<void> {
  const turns = new RequestTurns();
  started = [];
  closed = [];
  server = createServer((request, response) => {
    const { url = '' } = request;
    response.once('close', () => closed.push(url));
    turns.take(request, response, () => {
      started.push(url);
      handler(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
}

/** Resolves when the server has closed the connection and all of its events were emitted. */
async function connectionClosed(): Promise<void> {
  client.resume();
  await once(client, 'close');
  await new Promise((resolve) => server.close(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

it('starts a request when the response before it was sent', async () => {
  let running = 0;
  let most = 0;
  await send(['/1', '/2', '/3', '/4'], ({ url }, response) => {
    most = Math.max(most, (running += 1));
    response.once('finish', () => (running -= 1));
    setImmediate(() => {
      if (url === '/4') response.setHeader('Connection', 'close');
      response.end(url);
    });
  });
  await connectionClosed();
  expect({ most, started, closed }).toEqual({
    most: 1,
    started: ['/1', '/2', '/3', '/4'],
    closed: ['/1', '/2', '/3', '/4'],
  });
});

it('starts no request after the connection closed, and their responses emit close', async () => {
  await send(['/1', '/2', '/3'], (_request, response) => response.destroy());
  await connectionClosed();
  expect(started).toEqual(['/1']);
  expect(closed.sort()).toEqual(['/1', '/2', '/3']);
});

it('does not start a request whose connection closes at the beginning of its turn', async () => {
  await send(['/1', '/2', '/3'], ({ socket }, response) => {
    response.once('finish', () => socket.destroy());
    response.end();
  });
  await connectionClosed();
  expect(started).toEqual(['/1']);
  expect(closed.sort()).toEqual(['/1', '/2', '/3']);
});

it.each([
  [101, 101],
  [102, 1],
])(
  'of %i requests starts %i: more than 100 waiting requests close the connection',
  async (sent, expected) => {
    await send(
      Array.from({ length: sent }, (_, n) => `/${n}`),
      ({ url }, response) =>
        setImmediate(() => {
          if (url === '/100') response.setHeader('Connection', 'close');
          response.end();
        }),
    );
    await connectionClosed();
    expect(started).toHaveLength(expected);
    expect(closed).toHaveLength(sent);
  },
);
