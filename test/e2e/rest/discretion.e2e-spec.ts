/** No message, hint or list of candidates names a table that the caller has no rights to (DECISIONS.md 5). */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table members (id int primary key, name text);
    create table secret_ledger (id int primary key, member int constraint ledger_member references members);
    create table secret_links (id int primary key, a int references members, b int references members);
    create table guarded (id int primary key);
    revoke all on secret_ledger, secret_links from anon, authenticated;
    create policy everything on members for all to anon using (true) with check (true);
    create policy looks_away on guarded for select to anon using (exists (select from secret_ledger));
    insert into members values (1, 'x'); insert into secret_ledger values (1, 1); insert into guarded values (1);
  `);
});
afterAll(() => plinth.stop());

const SECRET = /secret|ledger/i;

it('gives hints only from objects visible to the caller', async () => {
  expect((await project.anon.get('/rest/v1/secret_ledgr')).text).not.toMatch(/secret_ledger/);
  expect((await project.anon.get('/rest/v1/member')).body.hint).toBe(
    `Perhaps you meant the table 'public.members'`,
  );
  expect((await project.service.get('/rest/v1/secret_ledgr')).body.hint).toContain('secret_ledger');
  expect((await project.anon.get('/rest/v1/members?select=id,secret_ledgr(id)')).body.hint).toBeNull();
});

it('gives no hint for names that are only slightly similar', async () => {
  expect((await project.service.get('/rest/v1/secrets')).body.hint).toBeNull();
  expect((await project.service.get('/rest/v1/rpc/cell')).body.hint).toBeNull();
});

it('reports a missing privilege on the table named in the request', async () => {
  const answer = await project.anon.get('/rest/v1/secret_links');
  expect([answer.status, answer.body.message]).toEqual([403, 'permission denied for table secret_links']);
  await project.sql(`create function shut() returns int language sql as 'select 1';
    revoke execute on function shut from public, anon, authenticated`);
  const call = await project.anon.post('/rest/v1/rpc/shut', {});
  expect([call.status, call.body.message]).toEqual([403, 'permission denied for function shut']);
});

it('does not name tables that refer to a row', async () => {
  const answer = await project.anon.delete('/rest/v1/members?id=eq.1');
  expect([answer.status, answer.body.detail.sqlstate]).toEqual([409, '23503']);
  expect(answer.text).not.toMatch(SECRET);
  const service = await project.service.delete('/rest/v1/members?id=eq.1');
  expect(service.body.detail.constraint).toBe('ledger_member');
});

it('does not name tables that a policy reads', async () => {
  const answer = await project.anon.get('/rest/v1/guarded');
  expect([answer.status, answer.body.detail.sqlstate]).toEqual([403, '42501']);
  expect(answer.text).not.toMatch(SECRET);
});

it('reports a recursion through visible tables, and names no other', async () => {
  await project.sql(`
    create table turning (id int primary key);
    create policy turns on turning for select to anon using (exists (select from turning t where t.id > 0));
    create table secret_wheel (id int primary key);
    revoke all on secret_wheel from anon, authenticated;
    create policy turns on secret_wheel for select to anon using (exists (select from secret_wheel w where w.id > 0));
    create table entrance (id int primary key);
    create policy leads_in on entrance for select to anon using (exists (select from secret_wheel))`);
  const open = await project.anon.get('/rest/v1/turning');
  expect([open.status, open.body.code, open.body.message]).toEqual([
    500,
    '42P17',
    'infinite recursion detected in policy for relation "turning"',
  ]);
  const hidden = await project.anon.get('/rest/v1/entrance');
  expect([hidden.status, hidden.body.code]).toEqual([500, '42P17']);
  expect(hidden.text).not.toMatch(SECRET);
});

it('does not show the conflicting row of a unique violation under row-level security', async () => {
  await project.sql(`create table accounts (id int primary key, email text unique);
    create policy add on accounts for insert to anon with check (true); insert into accounts values (1, 'taken@example.com')`);
  const answer = await project.anon.post(
    '/rest/v1/accounts',
    { id: 2, email: 'taken@example.com' },
    { headers: { prefer: 'return=minimal' } },
  );
  expect([answer.status, answer.body.detail.detail]).toEqual([409, null]);
});
