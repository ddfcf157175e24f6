/** Terminates TLS for a test server that uses plain TCP. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { freePort } from './plinth-process';
import type { TlsFiles } from './test-authority';

export interface TlsFront {
  readonly port: number;
  stop(): Promise<void>;
}

export async function withTls(port: number, { cert, key }: TlsFiles): Promise<TlsFront> {
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
    const inner = connect(port, '127.0.0.1');
    socket.pipe(inner).pipe(socket);
    const end = (): void => {
      socket.destroy();
      inner.destroy();
    };
    socket.on('error', end).on('close', end);
    inner.on('error', end).on('close', end);
  });
  const own = await freePort();
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  return { port: own, stop: () => new Promise((resolve) => server.close(() => resolve())) };
}
