// Generates upload load over plain sockets, because neither wrk nor autocannon can send large bodies.
import { connect } from 'node:net';

/** Bytes written at once. */
const WRITE_SIZE = 1024 * 1024;

/**
 * Sends files over keep-alive connections, one after the other on each, until the time or the number is reached.
 * @param {{ url: string, length: number, send: (request: Function, n: number) => Promise<number> }} target `send` sends one file of
 *   `length` bytes by calls of `request`, which resolves with the status and the head of the response, and returns the last status
 */
export async function upload({ url, length, send }, { connections, seconds, atMost = Infinity }) {
  const { hostname, port, host } = new URL(url);
  const latencies = [];
  let [sent, failed] = [0, 0];
  const begin = performance.now();
  const client = async () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const request = requestsOn(socket, host);
    while (performance.now() - begin < seconds * 1000 && sent < atMost) {
      sent += 1;
      const start = performance.now();
      const status = await send(request, sent);
      latencies.push(performance.now() - start);
      if (status < 200 || status > 299) failed += 1;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, client));
  const took = (performance.now() - begin) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(share * (latencies.length - 1))];
  const rate = latencies.length / took;
  return {
    requests: latencies.length,
    rate,
    bytesPerSecond: rate * length,
    p50: at(0.5),
    p99: at(0.99),
    failed,
  };
}

/** A target whose files are one request each. @param head path and headers of the nth @param parts of the body */
export function inOneRequest({ url, method, head, parts }) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const body =
    length <= WRITE_SIZE ? [Buffer.concat(parts)] : parts.flatMap((part) => slices(part, WRITE_SIZE));
  const send = async (request, n) => (await request(method, { ...head(n), length, body })).status;
  return { url, length, send };
}

/** A target whose files are sent by TUS, in chunks. @param head of the nth creation @param headers of its other requests */
export function inChunks({ url, head, headers, bytes, chunkSize }) {
  const chunks = slices(bytes, chunkSize).map((chunk) => slices(chunk, WRITE_SIZE));
  const send = async (request, n) => {
    const created = await request('POST', { ...head(n), length: 0, body: [] });
    const path = /\r\nlocation: *(\S+)/i.exec(created.head)?.[1];
    if (created.status !== 201 || !path) return created.status;
    let offset = 0;
    for (const body of chunks) {
      const length = body.reduce((sum, piece) => sum + piece.length, 0);
      const { status } = await request('PATCH', {
        path,
        headers: { ...headers, 'upload-offset': offset, 'content-type': 'application/offset+octet-stream' },
        length,
        body,
      });
      if (status !== 204) return status;
      offset += length;
    }
    return 201;
  };
  return { url, length: bytes.length, send };
}

/** A function that sends a request on a socket; small bodies in one write with the head. */
function requestsOn(socket, host) {
  const answers = answersOf(socket);
  return async (method, { path, headers, length, body }) => {
    const lines = Object.entries({ host, 'content-length': length, ...headers });
    const text = `${method} ${path} HTTP/1.1\r\n${lines.map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n`;
    const answered = answers.next();
    if (body.length <= 1) socket.write(Buffer.concat([Buffer.from(text), ...body]));
    else {
      socket.write(text);
      for (const piece of body) {
        if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
      }
    }
    return answered;
  };
}

/** Status and head of the responses on a socket; their bodies have a Content-Length. */
function answersOf(socket) {
  let buffered = Buffer.alloc(0);
  let waiting;
  const settle = () => {
    const end = buffered.indexOf('\r\n\r\n');
    if (!waiting || end < 0) return;
    const head = buffered.toString('latin1', 0, end);
    const whole = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (buffered.length < whole) return;
    buffered = buffered.subarray(whole);
    waiting.resolve({ status: Number(head.slice(9, 12)), head });
    waiting = undefined;
  };
  const broken = () => waiting?.reject(new Error('the server closed the connection during an upload'));
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    settle();
  });
  socket.on('error', broken);
  socket.on('close', broken);
  return {
    next: () => new Promise((resolve, reject) => ((waiting = { resolve, reject }), settle())),
  };
}

function slices(buffer, size) {
  const count = Math.ceil(buffer.length / size);
  return Array.from({ length: count }, (_, n) => buffer.subarray(n * size, (n + 1) * size));
}
