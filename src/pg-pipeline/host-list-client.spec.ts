/** A server that ends a connection in the packet that accepts it, as it does on a busy machine. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Pool } from 'pg';
import { HostListClient } from './host-list-client';

/** Message formats: manual, 54.7. */
function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}
const ACCEPTED = [message('R', Buffer.alloc(4)), message('Z', 'I')];
const TERMINATED = message('E', 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');

describe('a connection that ends as soon as it is accepted', () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((socket) =>
      socket.once('data', () => socket.end(Buffer.concat([...ACCEPTED, TERMINATED]))),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());
  const config = () => ({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'plinth' });

  it('fails the query of its client', async () => {
    const client = new HostListClient(config());
    await client.connect();
    await expect(client.query('select 1')).rejects.toThrow();
  });

  it('fails the query of its pool', async () => {
    const pool = new Pool({ ...config(), Client: HostListClient });
    pool.on('error', () => undefined);
    await expect(pool.connect().then((client) => client.query('select 1'))).rejects.toThrow();
  });
});
