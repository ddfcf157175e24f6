/**
 * The members of node-postgres in src/pg-pipeline/driver-internals.ts, one by one, against a real server. If an upgrade
 * changes one, this test fails first: read the changes, adapt driver-internals.ts, and pin the new version.
 */
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Client, Connection, Result, types, utils } from 'pg';
import { CONNECTION_EVENTS, type DriverQuery } from '../../../src/pg-pipeline/driver-internals';
import { serverConfig, untilSleeping } from '../../support/pipeline-server';

const ROOT = path.join(__dirname, '../../..');

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
}

/** Replaces the parser's stream of node-postgres, as WireConnection does. */
class RecordingConnection extends Connection {
  readonly attached: EventEmitter[] = [];
  readonly relay = new EventEmitter();

  override attachListeners(stream: EventEmitter): void {
    this.attached.push(stream);
    super.attachListeners(this.relay);
    stream.on('data', (chunk: Buffer) => this.relay.emit('data', chunk));
    stream.on('end', () => this.relay.emit('end'));
  }
}

let client: Client;
let connection: RecordingConnection;
beforeEach(async () => {
  connection = new RecordingConnection({ ssl: false });
  client = new Client({ ...serverConfig(), connection });
  client.on('error', () => undefined);
  await client.connect();
});
afterEach(() => client.end().catch(() => undefined));

/** Records which methods of the query the client calls. */
class RecordingQuery implements DriverQuery {
  readonly calls: string[] = [];
  readonly texts: (string | null)[] = [];
  private finish: () => void = () => undefined;
  readonly done = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(private readonly send: (connection: Connection) => void) {}

  submit(connection: Connection): null {
    this.send(connection);
    return null;
  }

  handleRowDescription({ fields }: Parameters<DriverQuery['handleRowDescription']>[0]): void {
    this.calls.push(`fields ${fields.map(({ name, dataTypeID }) => `${name}:${dataTypeID}`).join()}`);
  }

  handleDataRow({ fields }: Parameters<DriverQuery['handleDataRow']>[0]): void {
    this.calls.push('row');
    this.texts.push(...fields);
  }

  handleCommandComplete(): void {
    this.calls.push('complete');
  }

  handleEmptyQuery(): void {
    this.calls.push('empty');
  }

  handlePortalSuspended(): void {
    this.calls.push('suspended');
    connection.sync();
  }

  handleCopyInResponse(connection: Connection): void {
    this.calls.push('copy in');
    connection.sendCopyFail('no data');
  }

  handleCopyData(): void {
    this.calls.push('copy data');
  }

  handleError(error: Error & { code?: string }): void {
    this.calls.push(`error ${error.code} ${error.message}`);
    this.finish();
  }

  handleReadyForQuery(): void {
    this.calls.push('ready');
    this.finish();
  }
}

async function callsFor(send: (connection: Connection) => void): Promise<string[]> {
  const query = client.query(new RecordingQuery(send));
  await query.done;
  return query.calls;
}

it('is pinned to the version that is installed', () => {
  expect(manifest('').dependencies.pg).toBe(manifest('node_modules/pg').version);
});

describe('Client', () => {
  it('uses the given connection', () => {
    expect(client.connection).toBe(connection);
  });

  it("has the server's process id and secret key once connected", async () => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    expect(client.processID).toBe(rows[0]?.pid);
    expect(typeof client.secretKey).toBe('number');
    expect([new Client().processID, new Client().secretKey]).toEqual([null, null]);
  });

  it('is ready for a query unless a response is pending', async () => {
    expect(client.readyForQuery).toBe(true);
    const query = client.query('select 1');
    expect(client.readyForQuery).toBe(false);
    await query;
    expect(client.readyForQuery).toBe(true);
  });

  it.each([
    [`select 1 as one, 'a' as two`, ['fields one:23,two:25', 'row', 'complete', 'ready']],
    ['', ['empty', 'ready']],
    ['select 1 / 0', ['error 22012 division by zero']],
    ['create temp table t (); copy t from stdin', ['complete', 'copy in', /^error 57014 .*no data/]],
    ['copy (select 1) to stdout', ['copy data', 'complete', 'ready']],
  ])('calls the methods of a query that runs %j', async (text, expected) => {
    const calls = await callsFor((sent) => sent.query(text));
    const matching = expected.map((call) =>
      call instanceof RegExp ? (expect.stringMatching(call) as string) : call,
    );
    expect(calls).toEqual(matching);
  });

  it('notifies a query of a suspended portal', async () => {
    const calls = await callsFor((sent) => {
      sent.parse({ name: '', text: 'select generate_series(1, 9)', types: [] }, true);
      sent.bind({}, true);
      sent.execute({ rows: '1' }, true);
      sent.flush();
    });
    expect(calls).toEqual(['row', 'suspended', 'ready']);
  });

  it('fails a query when the connection is lost, and calls nothing afterwards', async () => {
    const calls = await callsFor((sent) => sent.stream.destroy(new Error('gone')));
    expect(calls).toEqual(['error undefined gone']);
  });

  it('fails a query with the error that submit() returns', async () => {
    const query = new RecordingQuery(() => undefined);
    query.submit = (): null => new Error('not sent') as unknown as null;
    client.query(query);
    await new Promise((resolve) => setImmediate(resolve));
    expect(query.calls).toEqual(['error undefined not sent']);
  });
});

describe('Connection', () => {
  it('parses its stream once, and parses data from another emitter', async () => {
    expect(connection.attached).toEqual([connection.stream]);
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('accepts a function that creates its stream', () => {
    const stream = new EventEmitter();
    const config = { stream: () => stream } as unknown as ConstructorParameters<typeof Connection>[0];
    expect(new Connection(config).stream).toBe(stream);
  });

  it('emits an event for each message used by the library', async () => {
    const seen = new Set<string>();
    for (const event of Object.values(CONNECTION_EVENTS)) connection.on(event, () => seen.add(event));
    await client.query(`set application_name = 'another'`);
    await client.query('select 1');
    await client.query('select 1 / 0').catch(() => undefined);
    const { encrypted: _encrypted, ...others } = CONNECTION_EVENTS;
    expect([...seen].sort()).toEqual(Object.values(others).sort());
  });

  it('cancels a query over a separate connection, which the server closes', async () => {
    const isCancelled = expect(client.query('select pg_sleep(60)')).rejects.toMatchObject({ code: '57014' });
    await untilSleeping(client.processID ?? 0);
    const other = new Connection({ ssl: false });
    other.connect(serverConfig().port, serverConfig().host);
    await once(other, 'connect');
    other.cancel(client.processID ?? 0, client.secretKey ?? 0);
    await Promise.all([once(other, 'end'), isCancelled]);
  });

  it('emits an event when TLS may begin', async () => {
    const server = createServer((socket: Socket) => socket.once('data', () => socket.write('S')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const encrypted = new Connection({ ssl: true });
    encrypted.on('error', () => undefined);
    const isReady = once(encrypted, CONNECTION_EVENTS.encrypted);
    encrypted.once('connect', () => encrypted.requestSsl());
    encrypted.connect((server.address() as AddressInfo).port, '127.0.0.1');
    await isReady;
    encrypted.stream.destroy();
    server.close();
  });
});

it('Result converts rows to objects by the types of their columns', async () => {
  const { fields } = await client.query(`select 1 as one, 'a' as two, null as three`);
  const result = new Result('object', types);
  result.addFields(fields);
  result.addRow(result.parseRow(['1', 'a', null]));
  expect(result.rows).toEqual([{ one: 1, two: 'a', three: null }]);
});

it('prepareValue() converts a value to text or bytes', () => {
  const bytes = Buffer.from([0, 255]);
  expect(
    [null, undefined, 1, true, ['a'], { a: 1 }, bytes].map((value) => utils.prepareValue(value)),
  ).toEqual([null, null, '1', 'true', '{"a"}', '{"a":1}', bytes]);
});
