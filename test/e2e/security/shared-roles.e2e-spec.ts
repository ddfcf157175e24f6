/**
 * The roles of requests are shared by all projects of a server, and every role may change its own settings: settings
 * that an owner stores in anon, authenticated and service_role must not affect requests of another project.
 */
import { randomUUID } from 'node:crypto';
import { backUp, restore } from '../../support/backups';
import { forged } from '../../support/forged-archives';
import { IN_SOAK, shareOf } from '../../support/extent';
import { eventually } from '../../support/eventually';
import {
  type DatabaseAccess,
  accessOf,
  asOwner,
  asSuperuser,
  serverVersion,
} from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const ROLES = ['anon', 'authenticated', 'service_role'];
/** Settings that would each change what a request of the victim reads or writes. */
const HOSTILE: Readonly<Record<string, string>> = {
  datestyle: 'SQL, DMY',
  intervalstyle: 'sql_standard',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  timezone: 'Asia/Kathmandu',
  xmlbinary: 'hex',
  xmloption: 'document',
  lc_numeric: 'C',
  default_text_search_config: 'simple',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  row_security: 'off',
  transaction_read_only: 'on',
  default_transaction_read_only: 'on',
  default_transaction_isolation: 'serializable',
  statement_timeout: '1',
  lock_timeout: '1',
};

let plinth: TestPlinth;
let victim: TestProject;
let attacker: TestProject;
let [ofVictim, ofAttacker]: DatabaseAccess[] = [];
let original: unknown;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [victim, attacker] = [await plinth.createProject(), await plinth.createProject()];
  [ofVictim, ofAttacker] = [await accessOf(plinth, victim.id), await accessOf(plinth, attacker.id)];
  await victim.sql(`
    create table days (id int generated always as identity primary key, day date, bytes bytea, number float8, span interval,
      at timestamptz);
    create policy all_of_them on days to anon, authenticated using (true) with check (true);
    create function settings() returns json stable language sql as $$
      select json_object_agg(name, setting order by name) from pg_settings where name in (${Object.keys(
        HOSTILE,
      )
        .map((name) => `'${name}'`)
        .join(', ')}, 'DateStyle', 'IntervalStyle', 'TimeZone', 'search_path') $$`);
  original = await seenByVictim();
});
afterEach(() =>
  asSuperuser('postgres', async (client) => {
    const { rows } = await client.query<{ statement: string }>(
      `select format('alter role %I %s reset all', r.rolname, 'in database ' || quote_ident(d.datname)) as statement
       from pg_db_role_setting s join pg_roles r on r.oid = s.setrole left join pg_database d on d.oid = s.setdatabase
       where r.rolname = any ($1)`,
      [ROLES],
    );
    for (const { statement } of rows) await client.query(statement);
  }),
);
afterAll(() => plinth.stop());

/** The values that a request of each role reads and stores. */
async function seenByVictim(): Promise<unknown> {
  const row = {
    day: '02/03/2026',
    bytes: '\\x00ff',
    number: 0.1,
    span: '-1 day 02:00',
    at: '2026-02-03T04:05:06Z',
  };
  const seen = [];
  for (const http of [victim.anon, victim.asSubject(), victim.service]) {
    const settings = await http.get('/rest/v1/rpc/settings');
    const { id: _id, ...stored } =
      (await http.post('/rest/v1/days', row, { headers: { prefer: 'return=representation' } })).body[0] ?? {};
    seen.push({ settings: settings.body, stored });
  }
  return seen;
}

/** DDL causes a reload of the schema, and with it of the settings of roles. */
async function reloaded(): Promise<void> {
  const table = `reload_${Date.now()}`;
  await victim.sql(`create table ${table} ()`);
  await eventually(async () => expect((await victim.service.get(`/rest/v1/${table}`)).status).toBe(200));
}

/** Statements that store the hostile settings in a role. */
const storing = (role: string, scope: string): string =>
  Object.entries(HOSTILE)
    .map(
      ([name, value]) =>
        `alter role ${role} ${scope} set ${name} to ${name === 'datestyle' ? value : `'${value}'`}`,
    )
    .join(';');

async function expectStored(role: string): Promise<void> {
  const { rows } = await asSuperuser('postgres', (client) =>
    client.query(`select setconfig from pg_db_role_setting where setrole = $1::regrole`, [role]),
  );
  expect(String(rows[0]?.setconfig)).toMatch(/dmy/i);
}

describe("settings that an owner stores in a shared role reach no other project's requests", () => {
  it.each(
    ROLES.flatMap((role, turn) =>
      shareOf(
        [
          [role, 'everywhere', ''],
          [role, 'in the database of the other', 'victim'],
        ] as const,
        turn,
        2,
      ),
    ),
  )('with set role %s, %s', async (role, _where, scope) => {
    const into = scope && `in database "${ofVictim?.database}"`;
    await asOwner(ofAttacker as DatabaseAccess, (client) =>
      client.query(`set role ${role}; ${storing(role, into)}`),
    );
    await expectStored(role);
    await reloaded();
    expect(await seenByVictim()).toEqual(original);
  });

  it('by a function that is called with the anon key', async () => {
    const body = storing('anon', '').replaceAll(';', ';\n');
    await attacker.sql(
      `create function harm() returns void language plpgsql as $harm$ begin ${body}; end $harm$`,
    );
    await eventually(async () =>
      expect((await attacker.anon.post('/rest/v1/rpc/harm', {})).status).toBe(204),
    );
    await expectStored('anon');
    await reloaded();
    expect(await seenByVictim()).toEqual(original);
  });

  it('by an archive that is restored', async () => {
    const project = await plinth.createProject();
    const archive = await forged(await backUp(plinth, project.id), ({ header, members }) => {
      const setting = { role: 'anon', in_database: false, name: 'datestyle', value: 'SQL, DMY' };
      header.database_settings = [setting];
      const name = 'schema/post-data.sql';
      members.set(
        name,
        Buffer.concat([
          members.get(name) ?? Buffer.alloc(0),
          Buffer.from(`\nset role anon; ${storing('anon', '')};\nset role none;\n`),
        ]),
      );
    });
    expect((await restore(plinth, archive, { query: '?slug=restored-with-settings' })).status).toBeLessThan(
      500,
    );
    await reloaded();
    expect(await seenByVictim()).toEqual(original);
  });
});

describe('settings that are stored in a shared role', () => {
  it('are removed by the doctor, which names them', async () => {
    await asOwner(ofAttacker as DatabaseAccess, (client) =>
      client.query(`set role anon; alter role anon set work_mem = '1MB';
        alter role anon in database "${ofVictim?.database}" set datestyle = 'SQL, DMY'`),
    );
    const findings = async (): Promise<{ check: string; status: string; message: string }[]> =>
      (await plinth.admin.post('/admin/v1/doctor', {})).body.findings;
    const [warning] = (await findings()).filter(
      ({ check, status }) => check === 'shared_roles' && status === 'warning',
    );
    expect(warning?.message).toContain('anon: work_mem');
    expect(warning?.message).toContain(`anon in database "${ofVictim?.database}": DateStyle`);
    const { rowCount } = await asSuperuser('postgres', (client) =>
      client.query(`select from pg_db_role_setting where setrole = 'anon'::regrole`),
    );
    expect(rowCount).toBe(0);
  });
});

describe('roles that an owner creates and grants to roles of other projects', () => {
  const MANY = IN_SOAK ? 400 : 100;
  const prefix = `many_${randomUUID().slice(0, 8)}`;

  beforeAll(async () => {
    if ((await serverVersion()) < 16) return;
    await asOwner(ofAttacker as DatabaseAccess, (client) =>
      client.query(
        `do $$ begin for i in 1..${MANY} loop execute format('create role ${prefix}_%s', i); end loop; end $$`,
      ),
    );
  });
  afterAll(async () => {
    if ((await serverVersion()) < 16) return;
    await asOwner(ofAttacker as DatabaseAccess, (client) =>
      client.query(
        `do $$ begin for i in 1..${MANY} loop execute format('drop role ${prefix}_%s', i); end loop; end $$`,
      ),
    );
  });

  const grantAll = (to: string): Promise<unknown> =>
    asOwner(ofAttacker as DatabaseAccess, (client) =>
      client.query(`do $$ begin for i in 1..${MANY} loop
        execute format('grant ${prefix}_%s to ${to}', i); end loop; end $$`),
    );
  const memberships = async (): Promise<unknown[]> =>
    asSuperuser('postgres', async (client) => {
      const { rows } = await client.query(
        `select distinct member::regrole::text as member from pg_auth_members
         where roleid in (select oid from pg_roles where rolname like $1) and member <> $2::regrole`,
        [`${prefix}_%`, ofAttacker?.owner_role],
      );
      return rows;
    });

  it("do not slow down a reload of another project's schema, even before they are revoked", async () => {
    if ((await serverVersion()) < 16) return;
    const least = async (): Promise<number> => {
      let time = Infinity;
      for (let i = 0; i < 5; i += 1) {
        const begin = performance.now();
        await reloaded();
        time = Math.min(time, performance.now() - begin);
      }
      return time;
    };
    await victim.sql(`do $$ begin for i in 1..100 loop
      execute format('create table t%s (id int); create policy p on t%1$s to authenticated using (true)', i); end loop; end $$`);
    const before = await least();
    await grantAll('anon, authenticated, service_role with inherit true');
    // Other load only adds time.
    await eventually(async () => expect((await least()) / before).toBeLessThan(4));
  });

  it('are revoked together with all onward grants', async () => {
    if ((await serverVersion()) < 16) return;
    await grantAll(
      `anon, authenticated, service_role, "${ofVictim?.login_role}", "${ofVictim?.owner_role}" with admin option`,
    );
    await victim.sql(`grant ${prefix}_1 to authenticated`).catch(() => undefined);
    await eventually(async () => expect(await memberships()).toEqual([]));
  });

  it("may be granted to the project's own login role, and remain granted", async () => {
    if ((await serverVersion()) < 16) return;
    await attacker.sql(`grant ${prefix}_1 to "${ofAttacker?.login_role}"; grant ${prefix}_2 to anon`);
    await eventually(async () => expect(await memberships()).toEqual([{ member: ofAttacker?.login_role }]));
    const http = attacker.client(attacker.anonKey, attacker.token({ role: `${prefix}_1` }));
    expect((await http.get('/rest/v1/')).status).toBe(200);
  });
});
