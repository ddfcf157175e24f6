import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { joiningRequests } from './joined-chunks';

const Request = joiningRequests();

function bytes(count: number, from = 0): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, n) => (from + n) % 251));
}

/** Divides bytes into chunks of these sizes, repeatedly. */
function* divided(all: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, n = 0; at < all.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    // Copies the chunk, as Node.js does.
    yield Buffer.from(all.subarray(at, at + size));
    at += size;
  }
}

it.each([[[1]], [[1, 3_000, 2, 1_023, 1_024]], [[5_000]], [[1, 1, 70_000]]])(
  'keeps the bytes of chunks of %j bytes in order, for a reader before and after them',
  async (sizes) => {
    const all = bytes(100_000);
    for (const isLate of [true, false]) {
      const request = new Request(new Socket());
      const read = isLate ? null : buffer(request);
      for (const chunk of divided(all, sizes)) request.push(chunk);
      request.push(null);
      expect((await (read ?? buffer(request))).equals(all)).toBe(true);
    }
  },
);

it('joins waiting chunks, and requests a pause at the high-water mark', async () => {
  const request = new Request(new Socket({ highWaterMark: 16_384 } as object));
  const mark = request.readableHighWaterMark;
  let count = 0;
  for (let isWanted = true; isWanted; count += 1) isWanted = request.push(Buffer.from([count % 251]));
  expect(count).toBe(mark);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.push(null);
  await new Promise((resolve) => request.once('end', resolve));
  expect(Buffer.concat(chunks).equals(bytes(mark))).toBe(true);
  expect(chunks.length).toBeLessThan(10);
});

it('gives each chunk immediately to a waiting reader', () => {
  const request = new Request(new Socket());
  const chunks: number[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk.length));
  request.resume();
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      for (let n = 0; n < 3; n += 1) request.push(Buffer.from([n]));
      expect(chunks).toEqual([1, 1, 1]);
      resolve();
    });
  });
});

it('serves a request whose prototype was set after its construction', async () => {
  const request = new IncomingMessage(new Socket());
  Object.setPrototypeOf(request, Request.prototype);
  const all = bytes(3_000);
  for (const chunk of divided(all, [1])) request.push(chunk);
  request.push(null);
  expect((await buffer(request)).equals(all)).toBe(true);
});

// The stream expects the bytes that it asked for, and asks for no more of them, while they wait to be joined.
it.each([
  ['reaches the high-water mark', [100, 15_000, 1_000, 1_000, 1_000]],
  ['stays below it', [100, 5_000, 10, 10]],
])('gives the chunks of a paused reader to it when it %s', async (_case, sizes) => {
  let received = 0;
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const server = createServer({ IncomingMessage: Request, highWaterMark: 16_384 }, (request, response) => {
    request.once('data', () => request.pause());
    request.on('data', (chunk: Buffer) => (received += chunk.length));
    request.once('pause', () => setTimeout(() => request.resume(), 200));
    request.on('end', () => response.end(String(received)));
  }).listen(0);
  const client = connect((server.address() as AddressInfo).port).setNoDelay(true);
  try {
    client.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (const size of sizes) {
      client.write(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
      await sleep(10);
    }
    for (let tries = 0; received < total && tries < 100; tries += 1) await sleep(20);
    expect(received).toBe(total);
    client.write('0\r\n\r\n');
    expect((await text(client)).endsWith(String(total))).toBe(true);
  } finally {
    client.destroy();
    server.close().closeAllConnections();
    await once(server, 'close');
  }
});
