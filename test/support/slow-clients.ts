/** Clients that send or read slowly. They use raw sockets, because HTTP clients cannot do this. */
import { connect, type Socket } from 'node:net';

export interface RawClient {
  readonly socket: Socket;
  /** The part of the response that has arrived. */
  readonly answer: () => string;
  /** Resolves with the response when it is complete or the server has closed the connection. */
  readonly answered: Promise<string>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

/** Connects and sends the bytes unchanged. @param reads false to read nothing of the response */
export function rawClient(baseUrl: string, bytes: string | Buffer, { reads = true } = {}): RawClient {
  const { hostname, port } = new URL(baseUrl);
  let text = '';
  const socket = connect({ port: Number(port), host: hostname });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const answered = new Promise<string>((resolve) => {
    if (reads)
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (isWhole(text)) resolve(text);
      });
    socket.once('end', () => resolve(text));
    void closed.then(() => resolve(text));
  });
  socket.on('error', () => undefined);
  socket.write(bytes);
  return { socket, answer: () => text, answered, closed };
}

/** Whether a response with Content-Length is complete. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  return head >= 0 && length !== undefined && text.length >= head + 4 + Number(length);
}

/** The head of a request, including the blank line. */
export function headOf(line: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ Host: 'plinth.test', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Status and JSON body of a raw answer. */
export function parsedAnswer(answer: string): { status: number; head: string; body: unknown } {
  const [head = '', body = ''] = answer.split(/\r\n\r\n(.*)/s);
  return { status: Number(head.split(' ')[1]), head, body: body === '' ? undefined : JSON.parse(body) };
}
