/** The catalog's facts about a database's code: whether it can read the request, and whether it can leave locks. */
import type { Client } from 'pg';
import { ProjectDatabase } from '../../src/database/pools/project-database';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { createCatalogDatabase } from '../support/catalog-database';
import { accessOf } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';

let repository: CatalogRepository;
let database: ProjectDatabase;
let owner: Client;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ repository, database, owner, drop } = await createCatalogDatabase());
  await owner.query('create table notes (id int, body text)');
});
afterAll(() => drop());

const fn = (body: string, language = 'plpgsql'): string =>
  `create function probe() returns text language ${language} as $$ ${body} $$`;
const inline = (body: string): string => fn(`begin return ${body}; end`);

const CLAIMS = `current_setting('request.jwt.claims', true)`;
const HEADERS = `current_setting('request.headers', true)`;
const LOCK = 'pg_try_advisory_lock(1)';

it.each<[what: string, sql: string, readsRequest: boolean, leavesLocks: boolean]>([
  ['nothing but tables', 'select 1', false, false],
  ['a function that reads the claims', inline(CLAIMS), false, false],
  [
    'a function that reads a claim by its old name',
    inline(`current_setting('request.jwt.claim.sub')`),
    false,
    false,
  ],
  ['a policy that reads the claims', `create policy p on notes using (${CLAIMS} <> '')`, false, false],
  ['a view that reads the claims', `create view v as select ${CLAIMS} as claims`, false, false],
  ['a function that reads headers', inline(HEADERS), true, false],
  [
    'a function that reads headers in other letters',
    inline(`Current_Setting('Request.Headers')`),
    true,
    false,
  ],
  [
    'a function that composes the name of a setting',
    inline(`current_setting('request.' || 'path')`),
    true,
    false,
  ],
  ['a function that reads pg_settings', inline(`(select setting from pg_settings limit 1)`), true, false],
  [
    'a function with SHOW',
    fn('declare r record; begin for r in show "request.path" loop return r; end loop; end'),
    true,
    false,
  ],
  ['a body in SQL', `create function probe() returns text return ${HEADERS}`, true, false],
  [
    'a body in SQL that reads the claims',
    `create function probe() returns text return ${CLAIMS}`,
    false,
    false,
  ],
  ['a policy', `create policy p on notes using (${HEADERS} <> '')`, true, false],
  ['a check of a policy', `create policy p on notes for insert with check (${HEADERS} <> '')`, true, false],
  ['a view', `create view v as select ${HEADERS} as h`, true, false],
  ['a default', `alter table notes alter body set default ${HEADERS}`, true, false],
  ['a constraint', `alter table notes add constraint c check (${HEADERS} <> body)`, true, false],
  ['a domain', `create domain d as text check (${HEADERS} <> value)`, true, false],
  ['a rule', `create rule r as on insert to notes do also select ${HEADERS}`, true, false],
  [
    'the condition of a trigger',
    `create trigger t before insert on notes for each row when (${HEADERS} <> '')
     execute function suppress_redundant_updates_trigger()`,
    true,
    false,
  ],
  [
    'a default of an argument',
    `create function probe(a text default ${HEADERS}) returns text language sql as 'select a'`,
    true,
    false,
  ],
  [
    'an operator',
    `create operator === (function = current_setting, leftarg = text, rightarg = boolean)`,
    true,
    false,
  ],
  [
    'another name for a built-in function',
    `create function probe(text, boolean) returns text language internal as 'show_config_by_name_missing_ok'`,
    true,
    false,
  ],
  ['a function that locks', inline(`${LOCK}::text`), false, true],
  ['a policy that locks', `create policy p on notes using (${LOCK} is not null)`, false, true],
  ['a view that locks', `create view v as select ${LOCK}`, false, true],
  ['a function with a temporary table', fn('begin create temp table t (); return 1; end'), false, true],
  ['a function with dynamic SQL', fn(`begin execute 'select 1'; return 1; end`), true, true],
  ['a function that runs a query', inline(`query_to_xml('select 1', true, true, '')::text`), true, true],
  ['an escaped identifier', inline(`U&"current\\005Fsetting"('request.path')`), true, true],
])('%s', async (_what, sql, readsRequest, leavesLocks) => {
  try {
    await owner.query(sql);
    await repository.fingerprint(database);
    const rows = await repository.readTraits(database);
    expect({ readsRequest: rows.readsRequest, leavesLocks: rows.leavesLocks }).toEqual({
      readsRequest,
      leavesLocks,
    });
  } finally {
    await owner.query(`
      drop policy if exists p on notes; drop view if exists v; drop rule if exists r on notes;
      drop trigger if exists t on notes; drop routine if exists probe; drop domain if exists d;
      drop operator if exists === (text, boolean);
      alter table notes drop constraint if exists c, alter body drop default`);
  }
});

it("finds neither in Plinth's own code", async () => {
  const plinth = await TestPlinth.start();
  try {
    const project = await plinth.createProject();
    await project.sql('create table own (id int)');
    const {
      host,
      port,
      database: name,
      owner_role: user,
      owner_password: password,
    } = await accessOf(plinth, project.id);
    const place = { key: project.id, host, port, database: name, user, password, ssl: false };
    await repository.fingerprint(place);
    const rows = await repository.readTraits(place);
    expect({ readsRequest: rows.readsRequest, leavesLocks: rows.leavesLocks }).toEqual({
      readsRequest: false,
      leavesLocks: false,
    });
  } finally {
    await plinth.stop();
  }
});
