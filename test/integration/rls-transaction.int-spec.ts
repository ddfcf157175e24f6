/** Guarantees of RlsTransaction about atomicity, contexts and connections (src/database/rls). */
import { DatabaseError } from 'pg';
import { RowSink } from '../../src/pg-pipeline';
import { ProjectDatabase } from '../../src/database/pools/project-database';
import { ProjectPools } from '../../src/database/pools/project-pools';
import { RawRow, readRow } from '../../src/pg-pipeline';
import { RlsContext } from '../../src/database/rls/rls-context';
import { RlsTransaction } from '../../src/database/rls/rls-transaction';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

const LIMITS = {
  total: 4,
  perProject: 3,
  acquireTimeoutMs: 20_000,
  idleTimeoutMs: 60_000,
  workingAtOnce: 2,
  maxWaiting: 10_000,
  stalledMs: 60_000,
};

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
let pools: ProjectPools;
let door: RlsTransaction;

async function databaseOf(one: TestProject): Promise<ProjectDatabase> {
  const found = await plinth.app.get(ProjectRegistry).findById(one.id);
  if (!found) throw new Error('no such project');
  return found.database;
}

async function contextFor(
  one: TestProject,
  role = 'authenticated',
  claims: object = {},
): Promise<RlsContext> {
  return { database: await databaseOf(one), role, claims: JSON.stringify(claims), sessionId: null };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  other = await plinth.createProject();
  for (const one of [project, other]) {
    await one.sql(`
      create table items (id int primary key, owner text default auth.jwt() ->> 'name');
      create policy "own" on items to authenticated using (owner = auth.jwt() ->> 'name') with check (true);
      create table pairs (id int primary key, next int references pairs deferrable initially deferred);
      create policy "all" on pairs to authenticated using (true) with check (true)`);
  }
});
afterAll(() => plinth.stop());

beforeEach(() => {
  pools = new ProjectPools(LIMITS);
  door = new RlsTransaction(pools);
});
afterEach(() => pools.close());

describe('a statement', () => {
  it("runs under the caller's role and claims", async () => {
    const { rows } = await door.query(await contextFor(project, 'anon', { sub: 'x', name: 'Ada' }), {
      text: `select current_user::text as role, auth.jwt() ->> 'name' as name`,
    });
    expect(rows).toEqual([{ role: 'anon', name: 'Ada' }]);
  });

  it('leaves no context on the connection', async () => {
    await door.query(await contextFor(project, 'service_role', { name: 'Ada' }), { text: 'select 1' });
    const { rows } = await door.systemQuery(await databaseOf(project), 'test', {
      text: `select current_user = session_user as same, current_setting('request.jwt.claims', true) as claims`,
    });
    expect(rows).toEqual([{ same: true, claims: '' }]);
  });

  it('resets settings that a function made for the session before Plinth’s own statements', async () => {
    const one = new ProjectPools({ ...LIMITS, perProject: 1 });
    const narrow = new RlsTransaction(one);
    const context = await contextFor(project, 'service_role');
    await narrow.query(context, {
      text: `select set_config('role', 'anon', false), set_config('search_path', 'nowhere', false),
        set_config('statement_timeout', '200', false)`,
    });
    const { rows } = await narrow.systemQuery(context.database, 'test', {
      text: `select current_user = session_user as own, current_setting('search_path') as path, pg_sleep(0.5)`,
    });
    expect(rows).toMatchObject([{ own: true, path: '"public", "extensions"' }]);
    await one.close();
  });

  it('is prepared once per connection and role', async () => {
    const context = await contextFor(project);
    const statement = { name: 'items', text: 'select id from items where id = $1', values: [1] };
    const count = async (): Promise<number> => {
      const { rows } = await door.systemQuery(context.database, 'test', {
        text: `select count(*)::int as n from pg_prepared_statements where name like '%items'`,
      });
      return rows[0]?.n as number;
    };
    await door.query(context, statement);
    await door.query(context, statement);
    expect(await count()).toBe(1);
    await door.query({ ...context, role: 'anon' }, statement);
    expect(await count()).toBe(2);
  });

  it('survives DDL that changes the result of a prepared statement', async () => {
    await project.sql(
      'create table shifting (a int); create policy p on shifting to authenticated using (true)',
    );
    const context = await contextFor(project);
    const statement = { name: 'shifting', text: 'select * from shifting' };
    await door.query(context, statement);
    await project.sql('alter table shifting add b int default 2; insert into shifting values (1)');
    expect((await door.query(context, statement)).rows).toEqual([{ a: 1, b: 2 }]);
  });

  it('is refused for a role that the login role cannot SET, whether or not it exists', async () => {
    const owner = (await databaseOf(project)).user.replace('_login', '_owner');
    for (const role of [
      'postgres',
      owner,
      'pg_read_all_data',
      'no_such_role',
      'none',
      (await databaseOf(project)).user,
    ]) {
      await expect(door.query(await contextFor(project, role), { text: 'select 1' })).rejects.toMatchObject({
        kind: 'caller_refused',
        message: 'The credentials are not valid or no longer valid',
      });
    }
  });

  it('fails when a constraint fails at commit', async () => {
    const context = await contextFor(project);
    const insert = door.query(context, { text: 'insert into pairs values (1, 99)' });
    await expect(insert).rejects.toMatchObject({ code: '23503' });
    expect((await door.query(context, { text: 'select * from pairs' })).rows).toEqual([]);
  });

  it('fails alone if a value cannot be serialised, and the connection stays usable', async () => {
    const context = await contextFor(project, 'service_role');
    const hostile = {
      toPostgres: () => {
        throw new Error('no value');
      },
    };
    await expect(
      door.batch(context, [
        { text: 'insert into items values (500)' },
        { text: 'select $1::text', values: [hostile] },
      ]),
    ).rejects.toThrow('no value');
    expect((await door.query(context, { text: 'select * from items where id = 500' })).rows).toEqual([]);
  });
});

describe('rows passed through as text', () => {
  const columnsOf = (row: RawRow) => row.map((value) => value?.toString() ?? null);

  it('arrive as text after their types, which are sent once per connection', async () => {
    const context = await contextFor(project);
    const rows: (string | null)[][] = [];
    const types: (readonly number[])[] = [];
    const sink: RowSink = {
      onTypes: (some) => types.push(some),
      onRow: (...where) => rows.push(columnsOf(readRow(...where))),
    };
    const statement = { name: 'lie', text: `select 1, null::text, 'ü', true, 1.50`, sink };
    for (let round = 0; round < 3; round += 1) await door.query(context, statement);
    expect(rows).toEqual(Array(3).fill(['1', null, 'ü', 't', '1.50']));
    expect(types).toEqual([[23, 25, 25, 16, 1700]]);
  });

  it('are refused by their types each time, and the connection stays usable', async () => {
    const context = await contextFor(project);
    let rows = 0;
    const sink: RowSink = {
      onTypes: () => {
        throw new Error('not these');
      },
      onRow: () => (rows += 1),
    };
    for (let round = 0; round < 3; round += 1) {
      const refused = door.query(context, { name: 'refused', text: 'select 1', sink });
      await expect(refused).rejects.toThrow('not these');
    }
    expect(rows).toBe(0);
    expect((await door.query(context, { text: 'select 7 as seven' })).rows).toEqual([{ seven: 7 }]);
  });
});

describe('several statements of one request', () => {
  it('are atomic in one round trip', async () => {
    const context = await contextFor(project, 'service_role');
    const insert = { text: 'insert into items (id) values ($1)', values: [7] };
    await expect(door.batch(context, [insert, insert])).rejects.toBeInstanceOf(DatabaseError);
    expect((await door.query(context, { text: 'select * from items where id = 7' })).rows).toEqual([]);
  });

  it('are atomic in an explicit transaction', async () => {
    const context = await contextFor(project, 'service_role');
    const work = door.runTransaction(context, async (scope) => {
      await scope.query({ text: 'insert into items (id) values (8)' });
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect((await door.query(context, { text: 'select * from items where id = 8' })).rows).toEqual([]);
  });
});

describe('concurrency', () => {
  it('never mixes contexts: 400 requests of many callers and two projects on four connections', async () => {
    await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        const one = n % 2 ? project : other;
        const role = ['anon', 'authenticated', 'service_role'][n % 3] as string;
        const { rows } = await door.query(await contextFor(one, role, { name: `caller ${n}` }), {
          name: 'who',
          text: `select current_user::text as role, auth.jwt() ->> 'name' as name, current_database() as database`,
        });
        expect(rows).toEqual([{ role, name: `caller ${n}`, database: `plinth_${one.id}` }]);
        expect(pools.stats().open).toBeLessThanOrEqual(LIMITS.total);
      }),
    );
  });

  it('fails with an error if no connection becomes free in time', async () => {
    const tight = new ProjectPools({ ...LIMITS, perProject: 1, acquireTimeoutMs: 1_000 });
    const context = await contextFor(project, 'service_role');
    let [giveBack, isHeld] = [(): void => undefined, false];
    const held = () => new Promise<void>((resolve) => ([giveBack, isHeld] = [resolve, true]));
    const holder = tight.use(context.database, held);
    await until(() => isHeld);
    await expect(new RlsTransaction(tight).query(context, { text: 'select 1' })).rejects.toMatchObject({
      kind: 'no_free_connection',
    });
    giveBack();
    await holder;
    await tight.close();
  });

  it('replaces connections that the server closed', async () => {
    const context = await contextFor(project, 'service_role');
    await door.query(context, { text: 'select 1' });
    await project.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where usename = current_user and pid <> pg_backend_pid()`);
    const { rows } = await door.query(context, { text: 'select pg_backend_pid() as pid' });
    await door
      .systemQuery(context.database, 'test', {
        text: 'select pg_terminate_backend($1)',
        values: [rows[0]?.pid],
      })
      .catch(() => undefined);
    expect((await door.query(context, { text: 'select 1 as one' })).rows).toEqual([{ one: 1 }]);
  });
});
