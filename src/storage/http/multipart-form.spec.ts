import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { UploadForm } from '../files/upload';
import { openMultipartForm } from './multipart-form';

const PART = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
/** Bytes with which a boundary could begin; busboy holds them back. */
const BEGUN = `${PART}con`;
const FORM = `${BEGUN}tent\r\n--x--\r\n`;
const MINUTE = 60_000;
const PACE = { minRate: 1_024, windowMs: MINUTE, deadlineMs: MINUTE };
const MEMORY = { grow: () => undefined, release: () => undefined };

let server: Server;
let client: Socket;
let requests: IncomingMessage[];

const head = (length: number): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${length}\r\n\r\n`;

beforeEach(async () => {
  requests = [];
  server = createServer((request) => void requests.push(request));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
});

afterEach(async () => {
  jest.useRealTimers();
  client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Opens the forms of `count` requests, once their heads have arrived. */
async function forms(count: number): Promise<UploadForm[]> {
  while (requests.length < count) await once(server, 'request');
  return Promise.all(requests.map((request) => openMultipartForm(request, PACE, MEMORY)));
}

async function contentOf(form: UploadForm | undefined): Promise<string> {
  let content = '';
  for await (const chunk of form?.bytes ?? []) content += chunk.toString();
  return content;
}

it('gives up an upload that stalls for one time window', async () => {
  client.write(head(FORM.length) + BEGUN);
  const [form] = await forms(1);
  const ended = expect(form?.end('')).rejects.toMatchObject({ status: 408 });
  jest.advanceTimersByTime(MINUTE);
  await ended;
});

it('keeps the time limit of a second upload on the connection when the first one ends', async () => {
  client.write(head(FORM.length) + FORM + head(FORM.length) + BEGUN);
  const [first, second] = await forms(2);
  expect(await contentOf(first)).toBe('content');
  await first?.end('');
  const ended = expect(second?.end('')).rejects.toMatchObject({ status: 408 });
  jest.advanceTimersByTime(MINUTE);
  await ended;
});

it('does not time the sender out while the provider reads nothing', async () => {
  const waiting = 1024 * 1024;
  client.write(head(FORM.length + waiting) + PART + 'x'.repeat(waiting));
  const [form] = await forms(1);
  while (!requests[0]?.isPaused()) await once(requests[0] as IncomingMessage, 'pause');
  jest.advanceTimersByTime(2 * MINUTE);
  expect(form?.failure).toBeNull();
});
