/** A name server of a tenant whose answers change, over UDP. 127.0.0.2 stands for a public address, 127.0.0.1 for a private one. */
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:http';
import { OutboundHttp } from './outbound-http';

const [PUBLIC, PRIVATE] = ['127.0.0.2', '127.0.0.1'];
const mockNameServers: string[] = [];

jest.mock('./public-address', () => ({ isPublicAddress: (address: string) => address === '127.0.0.2' }));
jest.mock('node:dns/promises', () => {
  const actual = jest.requireActual<typeof import('node:dns/promises')>('node:dns/promises');
  class Resolver extends actual.Resolver {
    constructor(...options: ConstructorParameters<typeof actual.Resolver>) {
      super(...options);
      this.setServers(mockNameServers);
    }
  }
  return { ...actual, Resolver };
});

const [A, AAAA] = [1, 28];
const nameServer = createSocket('udp4');
const hits: string[] = [];
/** Addresses in each answer to an IPv4 query; the last answer is repeated. */
let answers: string[][] = [];
let servers: Server[] = [];
let port = 0;

function answerTo(question: Buffer, type: number): Buffer {
  const [addresses = []] = type === A ? (answers.length > 1 ? answers.splice(0, 1) : answers) : [];
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 10);
  const records = addresses.map((address) =>
    // The name of the question, type A, class IN, a time to live of 0.
    Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, question.subarray(12, question.indexOf(0, 12) + 5), ...records]);
}

beforeAll(async () => {
  nameServer.on('message', (question, { port: from, address }) => {
    const type = question.readUInt16BE(question.indexOf(0, 12) + 1);
    if ([A, AAAA].includes(type)) nameServer.send(answerTo(question, type), from, address);
  });
  await new Promise<void>((done) => nameServer.bind(0, PRIVATE, done));
  mockNameServers.push(`${PRIVATE}:${nameServer.address().port}`);
  const serve = async (host: string): Promise<void> => {
    const server = createServer((_request, response) => response.end(hits.push(host) ? host : ''));
    await new Promise<void>((done) => server.listen(port, host, done));
    ({ port } = server.address() as { port: number });
    servers = [...servers, server];
  };
  await serve(PUBLIC ?? '');
  await serve(PRIVATE ?? '');
});
afterAll(() => {
  nameServer.close();
  for (const server of servers) server.close();
});
beforeEach(() => hits.splice(0));

const http = new OutboundHttp([], ['https:', 'http:']);
const send = async (): Promise<string> => (await http.send(`http://rebound.example:${port}/`)).text();

it('connects to the address that it checked, when the next answer names a private one', async () => {
  answers = [['127.0.0.2'], ['127.0.0.1']];
  expect(await send()).toBe(PUBLIC);
  for (const _again of [1, 2, 3]) await expect(send()).rejects.toThrow('is not public');
  expect(hits).toEqual([PUBLIC]);
});

it.each([[['127.0.0.2', '127.0.0.1']], [['127.0.0.1', '127.0.0.2']], [['0.0.0.0']], [[]]])(
  'sends nothing when the answer is %j',
  async (addresses) => {
    answers = [addresses];
    await expect(send()).rejects.toThrow(/not public|no address/);
    expect(hits).toEqual([]);
  },
);

it('checks connections of other protocols in the same way', async () => {
  answers = [['127.0.0.2'], ['127.0.0.1']];
  const open = (): Promise<string | undefined> =>
    new Promise((done, fail) => {
      const socket = http.connect('rebound.example', port);
      socket.on('error', fail).on('connect', () => {
        done(socket.remoteAddress);
        socket.destroy();
      });
    });
  expect(await open()).toBe(PUBLIC);
  await expect(open()).rejects.toThrow('is not public');
});
