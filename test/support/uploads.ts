/** Uploads as clients send them. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { HttpAnswer, HttpClient } from './http-client';

export interface UploadOptions {
  /** The name that the file itself has. */
  readonly name?: string;
  /** The part's Content-Type. */
  readonly type?: string;
  /** Fields of the form, before or after the file. */
  readonly before?: Record<string, string>;
  readonly after?: Record<string, string>;
  /** Query string. */
  readonly query?: Record<string, string>;
}

/** Sends one file by fetch's FormData. */
export function upload(
  client: HttpClient,
  storage: string,
  bucket: string,
  content: string | Uint8Array,
  { name = 'file.txt', type = '', before = {}, after = {}, query = {} }: UploadOptions = {},
): Promise<HttpAnswer> {
  const form = new FormData();
  for (const [field, value] of Object.entries(before)) form.append(field, value);
  form.append('file', new Blob([content], { type }), name);
  for (const [field, value] of Object.entries(after)) form.append(field, value);
  const search = new URLSearchParams(query).toString();
  const path = `${storage}/buckets/${encodeURIComponent(bucket)}/upload${search ? `?${search}` : ''}`;
  return client.post(path, form);
}

/** Sends raw bytes over a socket, and reads until the server closes the socket or sends nothing for a while. */
export function rawExchange(
  baseUrl: string,
  request: string | Buffer,
  { end = false } = {},
): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => {
      socket.write(request);
      if (end) socket.end();
    });
    const done = (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(3_000, done);
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('end', done);
    socket.on('error', done);
  });
}

/**
 * Sends headers and then an endless chunked body (RFC 9112, 7.1), whatever the response is.
 * @param limit number of bytes after which it stops
 * @returns the response, and the number of bytes that were sent before the server closed the connection
 */
export function sendEndlessly(
  baseUrl: string,
  head: string,
  begin: string,
  limit: number,
): Promise<{ answer: string; sent: number }> {
  const chunk = (bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  const filler = chunk(Buffer.alloc(64 * 1024, 'x'));
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    let answer = '';
    let sent = 0;
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      if (begin) socket.write(chunk(Buffer.from(begin)));
      void go();
    });
    const go = async (): Promise<void> => {
      while (sent < limit && !socket.destroyed) {
        sent += filler.length;
        if (!socket.write(filler)) return;
        await setImmediate();
      }
      socket.destroy();
    };
    socket.on('drain', () => void go());
    socket.on('data', (data) => (answer += data.toString('latin1')));
    // The server may close the connection during the transfer.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve({ answer, sent }));
  });
}

/** Posts a body in chunks of a given size. */
export async function postInPieces(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  size: number,
): Promise<Pick<HttpAnswer, 'status' | 'body'>> {
  const sent = request(url, { method: 'POST', headers: { ...headers, 'content-length': body.length } });
  sent.setNoDelay(true);
  const answered = new Promise<Pick<HttpAnswer, 'status' | 'body'>>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
  });
  for (let from = 0; from < body.length; from += size) {
    sent.write(body.subarray(from, from + size));
    await setImmediate();
  }
  sent.end();
  return answered;
}
