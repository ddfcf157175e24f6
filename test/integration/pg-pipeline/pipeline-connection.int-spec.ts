/** The behaviour documented in src/pg-pipeline/README.md, against a real server. */
import { DatabaseError } from 'pg';
import {
  BINARY,
  eachRow,
  fixedStatement,
  PipelineConnection,
  type RawRow,
  readRow,
  ResultTooLargeError,
  type RowSink,
  STALE_PLAN,
  TEXT,
} from '../../../src/pg-pipeline';
import { until } from '../../support/eventually';
import { serverConfig, serverUrl, untilSleeping } from '../../support/pipeline-server';
import { PostgresProxy } from '../../support/postgres-proxy';

const MIB = 1024 * 1024;

let connection: PipelineConnection;
beforeEach(async () => {
  connection = new PipelineConnection(serverConfig());
  await connection.connect();
});
afterEach(() => connection.close());

const texts = (row: RawRow): (string | null)[] => row.map((value) => value?.toString() ?? null);

async function valueOf(text: string, values: unknown[] = []): Promise<unknown> {
  const [result] = await connection.pipeline([{ text, values }]);
  return Object.values(result?.rows[0] ?? {})[0];
}

describe('a pipeline', () => {
  it('takes one round trip for any number of statements', async () => {
    const proxy = await PostgresProxy.start(serverUrl());
    const led = new PipelineConnection(serverConfig(proxy.through(serverUrl())));
    await led.connect();
    const before = proxy.roundTrips;
    const results = await led.pipeline(
      [1, 2, 3, 4, 5].map((value) => ({ text: 'select $1::int as value', values: [value] })),
    );
    expect(proxy.roundTrips - before).toBe(1);
    expect(results.map(({ rows }) => rows)).toEqual([1, 2, 3, 4, 5].map((value) => [{ value }]));
    await led.close();
    await proxy.stop();
  });

  it("returns the rows and the command tag's count of each statement", async () => {
    const results = await connection.pipeline([
      { text: 'create temp table one (id int, at date)' },
      { text: 'insert into one select n, null from generate_series(1, 3) n' },
      { text: 'select id, at from one where id > $1', values: [1] },
      { text: '' },
    ]);
    expect(results.slice(0, 3)).toEqual([
      { rows: [], rowCount: 0 },
      { rows: [], rowCount: 3 },
      {
        rows: [
          { id: 2, at: null },
          { id: 3, at: null },
        ],
        rowCount: 2,
      },
    ]);
  });

  it('is atomic, and reports the statement that failed', async () => {
    await connection.pipeline([{ text: 'create temp table one (id int primary key)' }]);
    const running = connection.start([
      { text: 'insert into one values (1)' },
      { text: 'insert into one values (1)' },
      { text: 'insert into one values (2)' },
    ]);
    await expect(running.done).rejects.toMatchObject({ code: '23505' });
    expect(running.current).toBe(1);
    expect(await valueOf('select count(*)::int from one')).toBe(0);
  });

  it('fails when a constraint fails at commit', async () => {
    await connection.pipeline([
      { text: 'create temp table one (id int unique deferrable initially deferred)' },
    ]);
    const insert = connection.pipeline([{ text: 'insert into one values (1), (1)' }]);
    await expect(insert).rejects.toMatchObject({ code: '23505' });
  });

  it('commits nothing if a value cannot be serialised, and the connection stays usable', async () => {
    await connection.pipeline([{ text: 'create temp table one (id int)' }]);
    const toPostgres = (): never => {
      throw new Error('no value');
    };
    const hostile = connection.pipeline([
      { text: 'insert into one values (1)' },
      { text: 'select $1::text', values: [{ toPostgres }] },
    ]);
    await expect(hostile).rejects.toThrow('no value');
    expect(await valueOf('select count(*)::int from one')).toBe(0);
  });

  it('refuses COPY FROM STDIN and drops the data of COPY TO STDOUT', async () => {
    await connection.pipeline([{ text: 'create temp table one (id int)' }]);
    const copyIn = connection.pipeline([{ text: 'copy one from stdin' }]);
    await expect(copyIn).rejects.toThrow('COPY is not available here');
    const [copied] = await connection.pipeline([{ text: 'copy (values (1), (2)) to stdout' }]);
    expect(copied).toEqual({ rows: [], rowCount: 2 });
  });

  it('waits for earlier pipelines', async () => {
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3].map(async (value) => {
        await connection.pipeline([{ text: 'select pg_sleep(0.01)' }]);
        order.push(value);
      }),
    );
    expect(order).toEqual([1, 2, 3]);
  });
});

describe('a sink', () => {
  it('receives rows as bytes in the requested formats', async () => {
    const rows: RawRow[] = [];
    const sink: RowSink = {
      formats: [BINARY, TEXT, TEXT],
      onRow: (bytes, start, end) =>
        rows.push(readRow(bytes, start, end).map((value) => value && Buffer.from(value))),
    };
    const text = `select 258, 1.50, null::text from generate_series(1, 2)`;
    const [result] = await connection.pipeline([{ text, sink }]);
    expect(result).toEqual({ rows: [], rowCount: 2 });
    expect(rows).toEqual(Array(2).fill([Buffer.from([0, 0, 1, 2]), Buffer.from('1.50'), null]));
  });

  it('receives the types once per connection that prepares the statement', async () => {
    const types: (readonly number[])[] = [];
    const rows: (string | null)[][] = [];
    const sink: RowSink = {
      onTypes: (some) => types.push(some),
      onRow: (...where) => rows.push(texts(readRow(...where))),
    };
    for (let round = 0; round < 3; round += 1)
      await connection.pipeline([{ name: 'types', text: `select 1, 'ü', true`, sink }]);
    expect(types).toEqual([[23, 25, 16]]);
    expect(rows).toEqual(Array(3).fill(['1', 'ü', 't']));
  });

  it('fails the pipeline with the error it throws, gets no further row, and the connection stays usable', async () => {
    let rows = 0;
    const sink = eachRow(() => {
      rows += 1;
      throw new Error('not this one');
    });
    const refused = connection.pipeline([{ text: 'select generate_series(1, 1000)', sink }]);
    await expect(refused).rejects.toThrow('not this one');
    expect(rows).toBe(1);
    expect(await valueOf('select 7')).toBe(7);
  });

  it('gets a large row in parts if it accepts parts', async () => {
    const parts: Buffer[] = [];
    let ends = 0;
    let whole = 0;
    const onRow: RowSink['onRow'] = (_bytes, start, end) => (whole += end - start);
    const onRowPart: RowSink['onRowPart'] = (bytes, start, end, isLast) => {
      parts.push(Buffer.from(bytes.subarray(start, end)));
      if (isLast) ends += 1;
    };
    const text = `select repeat('x', 3 * 1024 * 1024)`;
    await connection.pipeline([
      { text, sink: { onRow, onRowPart } },
      { text, sink: { onRow } },
    ]);
    expect(ends).toBe(1);
    expect(parts.length).toBeGreaterThan(1);
    const row = Buffer.concat(parts);
    expect(texts(readRow(row, 0, row.length))).toEqual(['x'.repeat(3 * MIB)]);
    expect(whole).toBe(row.length);
  });
});

describe('a result that is too large', () => {
  const endless = `select repeat('x', 1000), generate_series(1, 1000000000)`;

  it('fails the pipeline and cancels the query, both collected and with a sink', async () => {
    let bytes = 0;
    const sink = eachRow(([value]) => (bytes += value?.length ?? 0));
    for (const statement of [{ text: endless }, { text: endless, sink, maxBytes: MIB }]) {
      await expect(connection.pipeline([statement])).rejects.toBeInstanceOf(ResultTooLargeError);
      while (connection.cancelling) await connection.cancelling;
      expect(connection.broken).toBe(false);
      expect(await valueOf('select 7')).toBe(7);
    }
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(MIB);
  });

  it("counts collected rows over all statements, and each sink's rows separately", async () => {
    const text = `select repeat('x', 700)`;
    const sink = eachRow(() => undefined);
    await connection.pipeline([
      { text, sink, maxBytes: 1_000 },
      { text, sink, maxBytes: 1_000 },
    ]);
    const collected = connection.pipeline([
      { text, maxBytes: 1_000 },
      { text, maxBytes: 1_000 },
    ]);
    await expect(collected).rejects.toMatchObject({ maxBytes: 1_000 });
  });
});

describe('a statement name', () => {
  const prepared = `select count(*)::int from pg_prepared_statements where name like 'mine%'`;

  it('keeps a statement prepared until it is the least recently used', async () => {
    for (let index = 0; index < 300; index += 1)
      await connection.pipeline([{ name: `mine ${index}`, text: `select ${index}` }]);
    const count = await valueOf(prepared);
    expect(count).toBeGreaterThan(100);
    expect(count).toBeLessThan(300);
    const rows = await connection.pipeline([{ name: 'mine 0', text: 'select 0 as value' }]);
    expect(rows).toEqual([{ rows: [{ value: 0 }], rowCount: 1 }]);
  });

  it('can be used again after its plan became invalid, and after a failure', async () => {
    await connection.pipeline([{ text: 'create temp table one as select 1 as id' }]);
    const all = { name: 'mine', text: 'select * from one' };
    await connection.pipeline([all]);
    await connection.pipeline([{ text: `alter table one add name text default 'n'` }]);
    await expect(connection.pipeline([all])).rejects.toMatchObject({ code: STALE_PLAN });
    expect(await connection.pipeline([all])).toEqual([{ rows: [{ id: 1, name: 'n' }], rowCount: 1 }]);
    const failing = { name: 'mine too', text: 'select 1 / $1::int', values: [0] };
    await expect(connection.pipeline([failing])).rejects.toMatchObject({ code: '22012' });
    expect(await connection.pipeline([{ ...failing, values: [1] }])).toMatchObject([{ rowCount: 1 }]);
  });

  it('can be used again after deallocateAll()', async () => {
    const one = { name: 'mine', text: 'select 1 as value' };
    await connection.pipeline([one]);
    await connection.pipeline([connection.deallocateAll(), one]);
    expect(await valueOf(prepared)).toBe(1);
  });

  it('lets a fixed statement send its encoded messages again', async () => {
    const rows: (string | null)[][] = [];
    const sink: RowSink = { onRow: (...where) => rows.push(texts(readRow(...where))) };
    const fixed = fixedStatement('mine fixed', 'select 1, null::text', sink);
    for (let round = 0; round < 3; round += 1) await connection.pipeline([{ text: 'select 2' }, fixed]);
    expect(rows).toEqual(Array(3).fill(['1', null]));
    expect(await valueOf(prepared)).toBe(1);
  });
});

describe('a connection', () => {
  it('cancels the running query and stays usable', async () => {
    const pid = Number(await valueOf('select pg_backend_pid()'));
    const sleeping = connection.pipeline([{ text: 'select pg_sleep(60)' }]);
    const isCancelled = expect(sleeping).rejects.toMatchObject({ code: '57014' });
    await untilSleeping(pid);
    await Promise.all([isCancelled, connection.cancel()]);
    expect([connection.cancelling, connection.broken]).toEqual([null, false]);
    expect(await valueOf('select 7')).toBe(7);
  });

  it('gets no further rows while it is paused', async () => {
    let bytes = 0;
    const [identity] = await connection.pipeline([{ text: 'select pg_backend_pid() as pid' }]);
    const sink = eachRow(([value]) => {
      bytes += value?.length ?? 0;
      if (bytes === 1_000) connection.pause();
    });
    const { done } = connection.start([
      { text: `select repeat('x', 1000) from generate_series(1, 50000)`, sink },
    ]);
    await until(() => bytes > 0);
    expect(connection.pausedSince).not.toBeNull();
    const other = new PipelineConnection(serverConfig());
    await other.connect();
    // The server waits until the client reads.
    const waits = {
      text: `select wait_event = 'ClientWrite' as waiting from pg_stat_activity where pid = $1`,
      values: [identity?.rows[0]?.pid],
    };
    const isWaiting = async () => (await other.pipeline([waits]))[0]?.rows[0]?.waiting === true;
    await until(isWaiting);
    const taken = bytes;
    expect(taken).toBeLessThan(25_000_000);
    await isWaiting();
    expect(bytes).toBe(taken);
    connection.resume();
    await done;
    expect([bytes, connection.pausedSince]).toEqual([50_000_000, null]);
    await other.close();
  });

  it('is broken after the server ends it, and reports that once', async () => {
    let lost = 0;
    connection.onLost = () => (lost += 1);
    const ended = connection.pipeline([{ text: 'select pg_terminate_backend(pg_backend_pid())' }]);
    await expect(ended).rejects.toBeInstanceOf(DatabaseError);
    expect(connection.broken).toBe(true);
    await expect(connection.pipeline([{ text: 'select 1' }])).rejects.toThrow();

    const idle = new PipelineConnection(serverConfig());
    idle.onLost = () => (lost += 1);
    await idle.connect();
    const [result] = await idle.pipeline([{ text: 'select pg_backend_pid() as pid' }]);
    const other = new PipelineConnection(serverConfig());
    await other.connect();
    lost = 0;
    await other.pipeline([{ text: 'select pg_terminate_backend($1)', values: [result?.rows[0]?.pid] }]);
    await until(() => lost > 0);
    expect([idle.broken, lost]).toEqual([true, 1]);
    await Promise.all([idle.close(), other.close()]);
  });

  it('reports settings that change for the session', async () => {
    let reports = 0;
    connection.onParameterStatus = () => (reports += 1);
    await connection.pipeline([{ text: 'select 1' }]);
    expect(reports).toBe(0);
    await connection.pipeline([{ text: `set application_name = 'another'` }]);
    expect(reports).toBe(1);
  });
});

describe('a statement that runs afterwards', () => {
  const rows: string[] = [];
  const onRow: RowSink['onRow'] = (bytes, start, end) => {
    rows.push(...readRow(bytes, start, end).map(String));
  };
  const afterwards = {
    ...fixedStatement(
      'afterwards',
      'select count(*) from pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())',
    ),
    sink: { onRow },
  };
  beforeEach(() => rows.splice(0));

  it('sees what the pipeline has committed, in its own transaction, each time', async () => {
    await connection.pipeline([{ text: 'create temp table kept (id int)' }]);
    const counting = {
      text: 'select count(*), pg_current_xact_id_if_assigned() is null from kept',
      sink: { onRow },
    };
    for (const _round of [1, 2]) {
      const { done } = connection.start(
        [{ name: 'keep', text: 'insert into kept values ($1) returning id', values: [1] }],
        counting,
      );
      expect((await done).map(({ rows: own }) => own)).toEqual([[{ id: 1 }]]);
    }
    expect(rows).toEqual(['1', 't', '2', 't']);
  });

  it('runs after a pipeline that failed too, and changes neither its error nor what comes next', async () => {
    for (const _round of [1, 2]) {
      const running = connection.start(
        [{ text: 'select 1' }, { text: 'select 1 / 0' }, { text: 'select 2' }],
        afterwards,
      );
      await expect(running.done).rejects.toMatchObject({ code: '22012' });
      expect(running.current).toBe(1);
      expect(await valueOf('select 7')).toBe(7);
    }
    expect(rows).toEqual(['1', '1']);
  });

  it('is ignored when it fails: the pipeline was committed', async () => {
    const { done } = connection.start([{ text: 'select 3 as n' }], { text: 'select 1 / 0' });
    expect((await done)[0]?.rows).toEqual([{ n: 3 }]);
    expect(await valueOf('select 8')).toBe(8);
    expect(connection.broken).toBe(false);
  });
});
