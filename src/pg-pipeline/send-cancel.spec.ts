/** A running cancel request could hit the next query of the connection. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { sendCancel } from './send-cancel';

/** TLS without certificates. */
const ANONYMOUS = { ciphers: 'aNULL:@SECLEVEL=0', maxVersion: 'TLSv1.2' } as const;
/** Message formats: manual, 54.7. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const CANCEL_REQUEST = Buffer.from([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2]);

describe('sendCancel', () => {
  let server: Server;
  let received: Promise<Socket>;
  const target = () => ({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    ssl: false as const,
  });

  beforeEach(async () => {
    received = new Promise((resolve) => {
      server = createServer((socket) => socket.once('data', () => resolve(socket)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => server.close());

  it('waits until the server has closed its end', async () => {
    let isDone = false;
    const sent = sendCancel(target(), 1, 2).then((isOver) => {
      isDone = true;
      return isOver;
    });
    const socket = await received;
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).toBe(false);
    socket.end();
    expect(await sent).toBe(true);
  });

  it('returns false when the server does not close it in time', async () => {
    const sent = sendCancel(target(), 1, 2);
    await received;
    expect(await sent).toBe(false);
  });

  it('encrypts the request if the server requires TLS', async () => {
    const tls = await new Promise<Server>((resolve) => {
      const listening = createServer((socket) => {
        socket.once('data', (asked: Buffer) => {
          expect(asked).toEqual(SSL_REQUEST);
          socket.write('S');
          const secureContext = createSecureContext({ ...ANONYMOUS, dhparam: 'auto' });
          const encrypted = new TLSSocket(socket, { isServer: true, secureContext });
          encrypted.once('data', (request: Buffer) => {
            expect(request).toEqual(CANCEL_REQUEST);
            encrypted.end();
          });
        });
      }).listen(0, '127.0.0.1', () => resolve(listening));
    });
    const { port } = tls.address() as AddressInfo;
    const ssl = { ...ANONYMOUS, rejectUnauthorized: false };
    expect(await sendCancel({ host: '127.0.0.1', port, ssl }, 1, 2)).toBe(true);
    tls.close();
  });
});
