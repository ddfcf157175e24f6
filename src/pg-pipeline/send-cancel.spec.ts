/** While a cancel request is under way it could hit the next query of the connection. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { sendCancel } from './send-cancel';

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
});
