// Generates upload load over plain sockets, because neither wrk nor autocannon can send large bodies.
import { connect } from 'node:net';

/** Bytes written at once. */
const WRITE_SIZE = 1024 * 1024;

/**
 * Sends bodies over keep-alive connections, one after the other on each, until the time or the number is reached.
 * @param {{ url: string, method: string, head: (n: number) => { path: string, headers: object }, parts: Buffer[] }} target
 *   the body is the concatenation of `parts`
 */
export async function upload({ url, method, head, parts }, { connections, seconds, atMost = Infinity }) {
  const { hostname, port, host } = new URL(url);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const pieces = parts.flatMap((part) => slices(part, WRITE_SIZE));
  const small = length <= WRITE_SIZE ? Buffer.concat(parts) : null;
  const latencies = [];
  let [sent, failed] = [0, 0];
  const begin = performance.now();
  const client = async () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const answers = statusesOf(socket);
    while (performance.now() - begin < seconds * 1000 && sent < atMost) {
      sent += 1;
      const { path: target, headers } = head(sent);
      const lines = Object.entries({ host, 'content-length': length, ...headers });
      const text = `${method} ${target} HTTP/1.1\r\n${lines.map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n`;
      const start = performance.now();
      const answered = answers.next();
      if (small) socket.write(Buffer.concat([Buffer.from(text), small]));
      else {
        socket.write(text);
        for (const piece of pieces) {
          if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
        }
      }
      const status = await answered;
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

/** Status codes of the responses on a socket; their bodies have a Content-Length. */
function statusesOf(socket) {
  let buffered = Buffer.alloc(0);
  let waiting;
  const settle = () => {
    const end = buffered.indexOf('\r\n\r\n');
    if (!waiting || end < 0) return;
    const head = buffered.toString('latin1', 0, end);
    const whole = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (buffered.length < whole) return;
    buffered = buffered.subarray(whole);
    waiting.resolve(Number(head.slice(9, 12)));
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
