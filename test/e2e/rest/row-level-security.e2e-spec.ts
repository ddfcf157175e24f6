/** Row-level security (SPEC.md 5.3, 5.4): per role and per user. */
import { randomUUID } from 'node:crypto';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
/** A server role to which the project grants privileges, but not to the login role. */
const editor = `editor_${randomUUID()}`;

beforeAll(async () => {
  await asSuperuser('postgres', (client) => client.query(`create role "${editor}" nologin`));
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table closed (id int primary key);
    insert into closed values (1);
    create table notes (id int primary key generated always as identity, owner uuid default auth.uid(), body text, open boolean default false);
    create policy own on notes for all to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
    create policy public_read on notes for select to anon, authenticated using (open);
    create table inbox (id int primary key generated always as identity, body text);
    create policy drop_in on inbox for insert to anon with check (true);
    create table sealed (id int primary key);
    revoke all on sealed from anon, authenticated;
    create table open_wide (id int primary key);
    insert into open_wide values (1);
    create function caller() returns json language sql stable return json_build_object('uid', auth.uid(), 'sub', auth.jwt() ->> 'sub');
    create function caller_by(claims text) returns uuid language plpgsql as $$ begin
      perform set_config('request.jwt.claims', claims, true); return auth.uid(); end $$;
    grant usage on schema public to "${editor}"; grant select on notes to "${editor}";
    create policy editors on notes for select to "${editor}" using (true);
  `);
  await project.sql('alter table open_wide disable row level security');
});
afterAll(() => plinth.stop());

const notes = '/rest/v1/notes';

describe('a table without policies', () => {
  it('is empty for anon and users, complete for the service-role key', async () => {
    expect((await project.anon.get('/rest/v1/closed')).body).toEqual([]);
    expect((await project.asSubject().get('/rest/v1/closed')).body).toEqual([]);
    expect((await project.service.get('/rest/v1/closed')).body).toEqual([{ id: 1 }]);
  });

  it('answers 403 when anon or a user inserts', async () => {
    for (const client of [project.anon, project.asSubject()]) {
      const answer = await client.post('/rest/v1/closed', { id: 5 });
      expect([answer.status, answer.body.detail.sqlstate]).toEqual([403, '42501']);
    }
  });

  it('answers 200 with an empty list when anon changes or deletes what it cannot see', async () => {
    expect((await project.anon.patch('/rest/v1/closed?id=eq.1', { id: 2 })).body).toEqual([]);
    expect((await project.anon.delete('/rest/v1/closed?id=eq.1')).body).toEqual([]);
    expect((await project.service.get('/rest/v1/closed')).body).toEqual([{ id: 1 }]);
  });
});

describe('policies by user', () => {
  it('let users read, change and delete their own rows only', async () => {
    const [ann, bob] = [project.asSubject(), project.asSubject()];
    const [note] = (await ann.post(notes, { body: 'mine' })).body;
    expect(note).toMatchObject({ owner: ann.userId, body: 'mine' });
    expect((await bob.get(`${notes}?id=eq.${note.id}`)).body).toEqual([]);
    expect((await bob.patch(`${notes}?id=eq.${note.id}`, { body: 'his' })).body).toEqual([]);
    expect((await bob.delete(`${notes}?id=eq.${note.id}`)).body).toEqual([]);
    expect((await ann.patch(`${notes}?id=eq.${note.id}`, { body: 'still mine' })).body).toHaveLength(1);
    expect((await ann.delete(`${notes}?id=eq.${note.id}`)).body).toHaveLength(1);
  });

  it('answer 403 for a row with another owner, inserted or updated', async () => {
    const ann = project.asSubject();
    const forged = await ann.post(notes, { body: 'x', owner: randomUUID() });
    expect([forged.status, forged.body.detail.sqlstate]).toEqual([403, '42501']);
    const [note] = (await ann.post(notes, { body: 'mine' })).body;
    expect((await ann.patch(`${notes}?id=eq.${note.id}`, { owner: randomUUID() })).status).toBe(403);
  });

  it('insert no row of a list if one is refused', async () => {
    const ann = project.asSubject();
    const answer = await ann.post(notes, [{ body: 'a' }, { body: 'b', owner: randomUUID() }]);
    expect(answer.status).toBe(403);
    expect((await ann.get(`${notes}?owner=eq.${ann.userId}`)).body).toEqual([]);
  });

  it('let anon read public rows', async () => {
    const ann = project.asSubject();
    await ann.post(notes, { body: 'for all', open: true });
    expect((await project.anon.get(`${notes}?body=eq.for all&select=body`)).body).toEqual([
      { body: 'for all' },
    ]);
  });

  it('are bypassed by the service-role key with any bearer', async () => {
    const ann = project.asSubject();
    const [note] = (await ann.post(notes, { body: 'hers' })).body;
    expect((await project.service.get(`${notes}?id=eq.${note.id}`)).body).toHaveLength(1);
    const user = project.token({ sub: randomUUID(), role: 'authenticated' });
    const both = await project.client(project.serviceKey, user).get(`${notes}?id=eq.${note.id}`);
    expect(both.body).toHaveLength(1);
  });

  it('can read the claims of a user', async () => {
    const user = await project.signUp();
    const [note] = (await user.http.post(notes, { body: 'signed up' })).body;
    expect(note.owner).toBe(user.id);
  });
});

describe('auth.uid()', () => {
  const uuid = randomUUID();

  it.each<[string, object, string | null]>([
    ['a UUID after other claims', { role: 'authenticated', email: 'a@example.com', sub: uuid }, uuid],
    ['a UUID in capitals', { sub: uuid.toUpperCase(), role: 'authenticated' }, uuid],
    [
      'a text of the same length that is not a UUID',
      { sub: uuid.replace(/[0-9a-f]/, 'x'), role: 'authenticated' },
      null,
    ],
    ['a text that ends like a UUID', { sub: `${uuid}"`, role: 'authenticated' }, null],
    ['an empty text', { sub: '', role: 'authenticated' }, null],
    ['a number', { sub: 7, role: 'authenticated' }, null],
    ['nothing', { role: 'authenticated' }, null],
  ])('for %s as the subject', async (_case, claims, uid) => {
    const token = project.token({ ...claims });
    const { body } = await project.client(project.anonKey, token).get('/rest/v1/rpc/caller');
    const { sub } = { sub: undefined, ...claims } as { sub?: string | number };
    expect(body).toEqual({ uid, sub: sub === undefined ? null : String(sub) });
  });

  it('is null for the anon key', async () => {
    expect((await project.anon.get('/rest/v1/rpc/caller')).body).toEqual({ uid: null, sub: null });
  });

  it.each([
    ['with sub first', `{"sub":"${uuid}"}`, uuid],
    ['with spaces', ` { "role": "x", "sub": "${uuid}" }`, uuid],
    ['with a sub that is not a UUID', `{"sub":"${uuid.replace(/[0-9a-f]/, 'x')}"}`, null],
    ['without any', '', null],
  ])('follows claims set by a function of the project: %s', async (_case, claims, uid) => {
    const answer = await project.asSubject().post('/rest/v1/rpc/caller_by', { claims });
    expect(answer.body).toBe(uid);
  });
});

describe('returning rows of a write', () => {
  it('gives a hint that only RETURNING was refused, and inserts nothing', async () => {
    const answer = await project.anon.post('/rest/v1/inbox?select=id', { body: 'dropped' });
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([403, '42501']);
    expect(answer.body.detail.hint).toContain('return=minimal');
    expect((await project.service.get('/rest/v1/inbox?body=eq.dropped')).body).toEqual([]);
    const quiet = await project.anon.post(
      '/rest/v1/inbox',
      { body: 'dropped' },
      { headers: { prefer: 'return=minimal' } },
    );
    expect(quiet.status).toBe(201);
    expect((await project.service.get('/rest/v1/inbox?body=eq.dropped')).body).toHaveLength(1);
  });

  it('gives no such hint if the write itself was refused', async () => {
    const answer = await project.anon.post('/rest/v1/closed', { id: 9 });
    expect([answer.status, answer.body.detail.hint]).toEqual([403, null]);
  });
});

describe('grants and roles', () => {
  it('answers 403 for a table without privileges for the role', async () => {
    const answer = await project.anon.get('/rest/v1/sealed');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([403, '42501']);
  });

  it('gives every role access if row-level security is off', async () => {
    expect((await project.anon.get('/rest/v1/open_wide')).body).toEqual([{ id: 1 }]);
  });

  it('answers 401 for a role that does not exist or was not granted', async () => {
    for (const role of ['nobody', 'none', editor, 'postgres']) {
      const client = project.client(project.anonKey, project.token({ sub: randomUUID(), role }));
      expect((await client.get(notes)).status).toBe(401);
    }
  });
});
