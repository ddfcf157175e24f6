/** The platform's audit log: its chain of hashes, detection of tampering, filters and exports. */
import { createHash } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AuditChain1790000000340 } from '../../migrations/platform/1790000000340-audit-chain';
import type { HttpAnswer } from '../support/http-client';
import { TestPlinth } from '../support/plinth';

let plinth: TestPlinth;
let replica: TestPlinth;
let projectId: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  replica = await TestPlinth.start({ replicaOf: plinth });
  projectId = (await plinth.createProject()).id;
});
afterAll(async () => {
  await replica.stop();
  await plinth.stop();
});

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly position: number;
  readonly previous_hash: string;
  readonly hash: string;
  readonly [field: string]: unknown;
}

const LOG = '/admin/v1/audit-log';
const platform = <T = Record<string, string>>(query: string, values: unknown[] = []): Promise<T[]> =>
  plinth.app.get(DataSource).query<T[]>(query, values);
const rename = (name: string, by = plinth): Promise<HttpAnswer> =>
  by.admin.patch(`/admin/v1/projects/${projectId}`, { name });
const verify = async (query = ''): Promise<HttpAnswer['body']> =>
  (await plinth.admin.get(`${LOG}/verify?${query}`)).body;
const write = (actor: string, action: string, details: object = {}): Promise<unknown> =>
  platform('insert into audit_log (actor, action, details) values ($1, $2, $3)', [actor, action, details]);
async function exported(query = ''): Promise<Entry[]> {
  const { text } = await plinth.admin.unchecked().get(`${LOG}/export?${query}`);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Entry);
}

/** JSON as docs/reference/administration.md describes it, like Python's json.dumps(), with a blank after `,` and `:`. */
function dumps(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(dumps).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${dumps(member)}`)
    .join(', ')}}`;
}

function documentedHash(entry: Entry): string {
  const { position, previous_hash: previous, id, at, actor, action, project_id, address, details } = entry;
  const text = dumps([position, previous, id, at, actor, action, project_id, address, details]);
  return createHash('sha256').update(text).digest('hex');
}

/** Runs `tamper`, expects the fault, and restores both tables. */
async function expectFault(tamper: string, broken: object): Promise<void> {
  await platform('create table kept_log as table audit_log; create table kept_chain as table audit_chain');
  try {
    await platform(`begin; set local session_replication_role = replica; ${tamper}; commit`);
    expect(await verify()).toMatchObject({ intact: false, next: null, broken });
  } finally {
    await platform(`begin; set local session_replication_role = replica;
      delete from audit_log; delete from audit_chain;
      insert into audit_log overriding system value select * from kept_log;
      insert into audit_chain select * from kept_chain;
      drop table kept_log, kept_chain; commit`);
  }
}

describe('the chain', () => {
  it('links each record to the one before it, by a hash that other programs can compute', async () => {
    await rename('Ünïcode "quoted" \\ \u0001 \u2028 💾');
    await write('a\tb\u007f', 'test.escapes', {
      text: 'Ünïcode "quoted" \\ \n\u0001\u001f\u007f\u2028 💾',
      nested: { b: [1, 2.5, true, null, {}] },
    });
    const entries = await exported();
    expect(entries.length).toBeGreaterThan(3);
    let previous = '0'.repeat(64);
    for (const [index, entry] of entries.entries()) {
      expect([entry.position, entry.previous_hash]).toEqual([index + 1, previous]);
      expect(entry.hash).toBe(documentedHash(entry));
      previous = entry.hash;
    }
    expect(await verify()).toEqual({
      intact: true,
      checked: entries.length,
      next: null,
      head: { position: entries.length, hash: previous },
      broken: null,
    });
  });

  it('remains intact when several processes write concurrently', async () => {
    const changes = Array.from({ length: 40 }, (_, n) => rename(`Name ${n}`, n % 2 ? plinth : replica));
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 200));
    const { intact, checked } = await verify();
    expect([intact, checked]).toEqual([true, (await exported()).length]);
  });

  it('is not delayed by a transaction that wrote a record and continues', async () => {
    const runner = plinth.app.get(DataSource).createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query(`insert into audit_log (actor, action) values ('slow', 'test.slow')`);
      expect((await rename('Meanwhile')).status).toBe(200);
      await runner.commitTransaction();
    } finally {
      await runner.release();
    }
    // The slow record has the smaller id but the later position.
    const [slow] = (await plinth.admin.get(`${LOG}?action=test.slow`)).body as Entry[];
    const [change] = (await plinth.admin.get(`${LOG}?action=project.update&limit=1`)).body as Entry[];
    expect(Number(slow?.id)).toBeLessThan(Number(change?.id));
    expect(slow?.position).toBeGreaterThan(change?.position as number);
    expect((await verify()).intact).toBe(true);
  });

  it('does not contain a record whose transaction was rolled back', async () => {
    const before = (await verify()).head;
    await platform(`begin; insert into audit_log (actor, action) values ('a', 'test.undone'); rollback`);
    expect((await verify()).head).toEqual(before);
  });

  it('is verified in slices of the size that the caller sets', async () => {
    const total = (await exported()).length;
    let [checked, next, slices]: [number, number | null, number] = [0, 0, 0];
    while (next !== null) {
      const slice: { checked: number; next: number | null; intact: boolean } = await verify(
        `after=${next}&limit=7`,
      );
      expect(slice.intact).toBe(true);
      expect(slice.checked).toBeLessThanOrEqual(7);
      checked += slice.checked;
      next = slice.next;
      slices += 1;
    }
    expect([checked, slices]).toEqual([total, Math.ceil(total / 7)]);
  });

  it.each(['head=1', `head=1:${'g'.repeat(64)}`, 'after=-1', 'limit=50001', 'from=1'])(
    'answers 400 for %s',
    async (query) => expect((await plinth.admin.get(`${LOG}/verify?${query}`)).status).toBe(400),
  );
});

describe('tampering', () => {
  it.each<[string, string, object]>([
    [
      'a changed record',
      `update audit_log set actor = 'somebody else' where id = (select record_id from audit_chain where position = 3)`,
      { position: 3, fault: 'changed' },
    ],
    [
      'a changed time',
      `update audit_log set at = at + interval '1 microsecond' where id = (select record_id from audit_chain where position = 2)`,
      { position: 2, fault: 'changed' },
    ],
    [
      'a removed record',
      'delete from audit_log where id = (select record_id from audit_chain where position = 3)',
      { position: 3, fault: 'removed' },
    ],
    [
      'a record that was removed with its link',
      `delete from audit_log where id = (select record_id from audit_chain where position = 3);
       delete from audit_chain where position = 3`,
      { position: 4, fault: 'unlinked' },
    ],
    [
      'removed first records',
      'delete from audit_chain where position < 3; delete from audit_log where id not in (select record_id from audit_chain)',
      { position: 3, fault: 'unlinked' },
    ],
    [
      'a removed record whose gap was closed',
      `delete from audit_log where id = (select record_id from audit_chain where position = 3);
       delete from audit_chain where position = 3;
       update audit_chain set position = -position where position > 3;
       update audit_chain set position = -position - 1 where position < 0`,
      { position: 3, fault: 'unlinked' },
    ],
    [
      'two records that changed places',
      `update audit_chain set record_id = -record_id where position in (2, 3);
       update audit_chain c set record_id = -o.record_id from audit_chain o
       where c.position in (2, 3) and o.position = 5 - c.position`,
      { position: 2, fault: 'changed' },
    ],
    [
      'an inserted record',
      `insert into audit_log (actor, action) values ('a', 'test.around')`,
      { position: null, fault: 'unchained' },
    ],
  ])('shows %s', async (_what, tamper, broken) => expectFault(tamper, broken));

  it('of the whole chain is detected with a head that was stored elsewhere', async () => {
    const { head } = await verify();
    const kept = `head=${head.position}:${head.hash}`;
    await rename('After the head was kept');
    expect((await verify(kept)).intact).toBe(true);
    await platform(`begin; set local session_replication_role = replica;
      update audit_log set actor = 'nobody' where id = (select record_id from audit_chain where position = 2);
      do $$ declare place bigint; previous text := repeat('0', 64); begin
        for place in select position from audit_chain order by position loop
          update audit_chain c set previous_hash = previous, hash = audit_record_hash(place, previous, l)
            from audit_log l where l.id = c.record_id and c.position = place returning hash into previous;
        end loop; end $$; commit`);
    expect((await verify()).intact).toBe(true);
    expect(await verify(kept)).toMatchObject({
      intact: false,
      checked: 0,
      broken: { position: head.position, record_id: null, fault: 'head' },
    });
  });
});

describe('filters and exports', () => {
  it('select by actor, action, project and time', async () => {
    await write('ada@example.com', 'test.first');
    const [{ now } = { now: '' }] = await platform(
      `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
    );
    await write('ada@example.com', 'test.second');
    const actions = async (query: string): Promise<unknown[]> =>
      ((await plinth.admin.get(`${LOG}?${query}`)).body as Entry[]).map(({ action }) => action);
    expect(await actions('actor=ada@example.com')).toEqual(['test.second', 'test.first']);
    expect(await actions(`actor=ada@example.com&since=${now}`)).toEqual(['test.second']);
    expect(await actions(`actor=ada@example.com&until=${now}`)).toEqual(['test.first']);
    expect(await actions(`actor=ada@example.com&action=test.second&project_id=${projectId}`)).toEqual([]);
    const lines = await exported(`actor=ada@example.com&until=${now}`);
    expect(lines.map(({ action }) => action)).toEqual(['test.first']);
  });

  it.each(['since=yesterday', 'since=2026-02-30T00:00:00Z', 'until=2026-01-01', 'format=xml', 'limit=5'])(
    'of an export are refused with 400 if they have %s',
    async (query) => expect((await plinth.admin.get(`${LOG}/export?${query}`)).status).toBe(400),
  );

  it('export CSV that spreadsheets do not read as formulas', async () => {
    await write("=cmd|' /C calc'!A0", 'test.csv', { note: 'a "quoted", text\nof two lines' });
    const { text, headers } = await plinth.admin.unchecked().get(`${LOG}/export?format=csv&action=test.csv`);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [header, line = ''] = text.split('\r\n');
    expect(header).toBe('id,at,actor,action,project_id,address,details,position,previous_hash,hash');
    expect(line).toContain(
      `,'=cmd|' /C calc'!A0,test.csv,,,"{""note"":""a \\""quoted\\"", text\\nof two lines""}",`,
    );
  });

  it('export a log of many pages completely and in order', async () => {
    await platform(
      `insert into audit_log (actor, action) select 'bulk', 'test.bulk' from generate_series(1, 2500)`,
    );
    const lines = await exported('action=test.bulk');
    const ids = lines.map(({ id }) => Number(id));
    expect(ids).toHaveLength(2500);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect((await verify('limit=50000')).intact).toBe(true);
  });
});

it('the migration chains the records that exist, and records of processes without the chain code', async () => {
  const runner = plinth.app.get(DataSource).createQueryRunner();
  const migration = new AuditChain1790000000340();
  try {
    await runner.startTransaction();
    await migration.down(runner);
    await runner.query(`insert into audit_log (actor, action) values ('old', 'test.before')`);
    await migration.up(runner);
    await runner.query(`insert into audit_log (actor, action) values ('old', 'test.after')`);
    await runner.commitTransaction();
  } finally {
    await runner.release();
  }
  const entries = await exported();
  expect(entries.slice(-2).map(({ action }) => action)).toEqual(['test.before', 'test.after']);
  const { intact, checked } = await verify('limit=50000');
  expect([intact, checked]).toEqual([true, entries.length]);
});
