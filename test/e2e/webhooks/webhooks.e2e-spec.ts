/** Webhooks: their events and delivery, and hostile receivers and owners. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { backUp, restore } from '../../support/backups';
import { eventually, until } from '../../support/eventually';
import { accessOf, asOwner } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';
import { type Received, signatureOf, WebhookReceiver } from '../../support/webhook-receiver';

let plinth: TestPlinth;
let project: TestProject;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  plinth = await TestPlinth.start({ env: { WEBHOOK_ALLOWED_HOSTS: receiver.host } });
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.sql(`create table orders (id int primary key, status text, total numeric, note text);
    create table words (word text);
    create policy all_orders on orders using (true) with check (true)`);
});
afterAll(async () => {
  await plinth.stop();
  await receiver.stop();
});

const base = (): string => `/admin/v1/projects/${project.id}/webhooks`;
let paths = 0;

/** Creates a webhook with a separate path at the receiver. */
async function create(body: object): Promise<{ id: string; secret: string; path: string }> {
  const path = `/hook-${(paths += 1)}`;
  const answer = await plinth.admin.post(base(), { url: receiver.url(path), ...body });
  if (answer.status !== 201) throw new Error(answer.text);
  return { id: answer.body.id, secret: answer.body.secret, path };
}
const remove = async ({ id }: { id: string }): Promise<void> => {
  expect((await plinth.admin.delete(`${base()}/${id}`)).status).toBe(204);
};
const arrived = async (path: string, count: number): Promise<Received[]> => {
  await eventually(async () => expect(receiver.at(path)).toHaveLength(count));
  return receiver.at(path);
};
// oxlint-disable-next-line typescript/no-explicit-any -- bodies of the product under test
const deliveries = async (id: string, query = ''): Promise<any[]> =>
  (await plinth.admin.get(`${base()}/${id}/deliveries${query}`)).body;
const now = (): Promise<unknown> => project.sql(`select pg_notify('plinth_hooks', 'again')`);

describe('a webhook of a table', () => {
  it('is sent after the commit, signed, with the row as table REST prints it', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT', 'UPDATE', 'DELETE'] });
    const answer = await project.service.post('/rest/v1/orders', { id: 1, status: 'new', total: 12.5 });
    expect(answer.status).toBe(201);
    await project.service.patch('/rest/v1/orders?id=eq.1', { status: 'paid' });
    await project.service.delete('/rest/v1/orders?id=eq.1');
    const [first, second, third] = await arrived(hook.path, 3);
    const row = { id: 1, status: 'new', total: 12.5, note: null };
    const at = { schema: 'public', table: 'orders', timestamp: expect.any(String) };
    expect(first?.json).toEqual({ ...at, type: 'INSERT', record: row, old_record: null });
    expect(second?.json).toEqual({
      ...at,
      type: 'UPDATE',
      record: { ...row, status: 'paid' },
      old_record: row,
    });
    expect(third?.json).toEqual({
      ...at,
      type: 'DELETE',
      record: null,
      old_record: { ...row, status: 'paid' },
    });
    for (const one of [first, second, third] as Received[])
      expect(one.headers['webhook-signature']).toBe(signatureOf(one, hook.secret));
    const ids = [first, second, third].map((one) => one?.headers['webhook-id']);
    await eventually(async () => {
      const listed = await deliveries(hook.id);
      expect(listed.map(({ id }) => id)).toEqual(ids.toReversed());
      expect(listed.map(({ state, status }) => [state, status])).toEqual(Array(3).fill(['delivered', 200]));
    });
    const details = await plinth.admin.get(`${base()}/${hook.id}/deliveries/${String(ids[0])}`);
    expect(details.body.payload).toBe(first?.body);
    expect(details.body.attempt_list).toMatchObject([
      { number: 1, status: 200, answer: 'thanks', error: null },
    ]);
    await remove(hook);
  });

  it('is not sent for a rolled back transaction or savepoint', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT'] });
    await asOwner(await accessOf(plinth, project.id), async (client) => {
      await client.query(`begin; insert into orders values (10, 'undone')`);
      await client.query('rollback');
      await client.query(`begin; savepoint s; insert into orders values (11, 'undone')`);
      await client.query(`rollback to savepoint s; insert into orders values (12, 'kept'); commit`);
    });
    const [only] = await arrived(hook.path, 1);
    expect(only?.json.record.id).toBe(12);
    expect(await deliveries(hook.id)).toHaveLength(1);
    await remove(hook);
  });

  it('is delivered for a restored project, once its secret is set again', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT'] });
    const restored = await restore(plinth, await backUp(plinth, project.id), { query: '?slug=orders-copy' });
    expect([restored.status, restored.text]).toEqual([201, expect.any(String)]);
    const { id } = restored.body;
    const copy = `/admin/v1/projects/${id}/webhooks/${hook.id}`;
    expect((await plinth.admin.post(`${copy}/secret`, {})).status).toBe(200);
    await asOwner(await accessOf(plinth, id), (client) =>
      client.query(`insert into orders values (15, 'copied')`),
    );
    const [only] = await arrived(hook.path, 1);
    expect(only?.json.record.id).toBe(15);
    expect((await plinth.admin.delete(`/admin/v1/projects/${id}`)).status).toBe(200);
    await remove(hook);
  });

  it('follows columns and a condition', async () => {
    const hook = await create({
      table: 'orders',
      events: ['UPDATE'],
      columns: ['status'],
      condition: 'new.total > 100 -- dear ones',
    });
    await project.sql(`insert into orders values (20, 'new', 500), (21, 'new', 50);
      update orders set note = 'x' where id in (20, 21); update orders set status = 'new' where id = 20;
      update orders set status = 'paid' where id in (20, 21)`);
    const [only] = await arrived(hook.path, 1);
    expect(only?.json.record).toMatchObject({ id: 20, status: 'paid' });
    expect((await deliveries(hook.id)).length).toBe(1);
    const changed = await plinth.admin.patch(`${base()}/${hook.id}`, { columns: null, condition: null });
    expect(changed.body).toMatchObject({ columns: null, condition: null, complete: true });
    await project.sql(`update orders set note = 'y' where id = 21`);
    await arrived(hook.path, 2);
    await remove(hook);
  });

  it('is sent in the order of changes of each row, however many there are', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT', 'UPDATE'] });
    await project.sql(`insert into orders select n, '0' from generate_series(1000, 1019) n;
      do $$ begin for i in 1..10 loop update orders set status = i::text where id between 1000 and 1019; end loop; end $$`);
    const all = await arrived(hook.path, 220);
    for (let id = 1000; id < 1020; id += 1) {
      const statuses = all.filter(({ json }) => json.record.id === id).map(({ json }) => json.record.status);
      expect(statuses).toEqual(Array.from({ length: 11 }, (_, index) => String(index)));
    }
    await remove(hook);
  });

  it('keeps the order of a table without a primary key, and sends only the key of a large row', async () => {
    const words = await create({ table: 'words', events: ['INSERT'] });
    await project.sql(`insert into words select n::text from generate_series(1, 30) n`);
    const told = await arrived(words.path, 30);
    expect(told.map(({ json }) => json.record.word)).toEqual(told.map((_, index) => String(index + 1)));
    await remove(words);
    const hook = await create({ table: 'orders', events: ['INSERT'] });
    await project.sql(`insert into orders values (30, 'large', 1, repeat('x', 300000))`);
    const [large] = await arrived(hook.path, 1);
    expect(large?.json).toMatchObject({ truncated: true, record: { id: 30 }, old_record: null });
    await remove(hook);
  });
});

describe('events of auth and storage', () => {
  it('are sent for users and files, without secrets', async () => {
    const hook = await create({
      events: ['user.created', 'user.signed_in', 'user.deleted', 'file.created', 'file.deleted'],
    });
    const user = await project.signUp();
    const bucket = await project.service.post(`${project.storage}/buckets`, { name: 'Told' });
    expect(bucket.status).toBe(201);
    const file = await upload(project.service, project.storage, 'told', 'a');
    expect(file.status).toBe(201);
    await project.service.delete(`${project.storage}/files/${file.body.data.id}`);
    await project.service.delete(`${project.auth}/admin/users/${user.id}`);
    await eventually(async () =>
      expect(receiver.at(hook.path).map(({ json }) => json.type)).toEqual(
        expect.arrayContaining([
          'user.created',
          'user.signed_in',
          'user.deleted',
          'file.created',
          'file.deleted',
        ]),
      ),
    );
    const all = receiver.at(hook.path);
    const created = all.find(({ json }) => json.type === 'user.created');
    expect(created?.json.record).toMatchObject({ id: user.id, email: user.email });
    expect(all.map(({ body }) => body).join()).not.toMatch(/password|sha256|object_id|email_key/);
    await remove(hook);
  });
});

describe('a receiver', () => {
  it('that fails receives the delivery again, in order, until it accepts it', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT', 'UPDATE'] });
    receiver.answer(hook.path, (response) => response.writeHead(503).end('busy'));
    await project.sql(`insert into orders values (40, 'a'); update orders set status = 'b' where id = 40`);
    await eventually(async () =>
      expect((await deliveries(hook.id)).at(-1)).toMatchObject({
        state: 'waiting',
        error: 'status 503',
        status: 503,
      }),
    );
    const failing = (await plinth.admin.get(base())).body.find(({ id }: { id: string }) => id === hook.id);
    expect(failing.failing_since).toEqual(expect.any(String));
    receiver.answer(hook.path);
    await project.sql(`update hooks.deliveries set next_attempt_at = now() where state = 'waiting'`);
    await now();
    await eventually(async () =>
      expect((await deliveries(hook.id)).map(({ state }) => state)).toEqual(['delivered', 'delivered']),
    );
    const statuses = receiver.at(hook.path).map(({ json }) => json.record.status);
    expect([...new Set(statuses)]).toEqual(['a', 'b']);
    expect(new Set(receiver.at(hook.path).map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    await remove(hook);
  });

  it('that fails for three days is given up, and can be sent to again', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT'] });
    receiver.answer(hook.path, (response) => response.writeHead(404).end());
    await project.sql(`insert into orders values (50, 'a')`);
    await eventually(async () => expect(await deliveries(hook.id)).toMatchObject([{ attempts: 1 }]));
    const [{ id }] = await deliveries(hook.id);
    expect((await plinth.admin.post(`${base()}/${hook.id}/deliveries/${id}/retry`)).status).toBe(409);
    await project.sql(`update hooks.deliveries set first_attempt_at = now() - interval '3 days', next_attempt_at = now()
      where id = '${id}'`);
    await now();
    await eventually(async () =>
      expect(await deliveries(hook.id, '?state=failed')).toMatchObject([{ id, attempts: 2, status: 404 }]),
    );
    receiver.answer(hook.path);
    expect((await plinth.admin.post(`${base()}/${hook.id}/deliveries/${id}/retry`)).status).toBe(204);
    await eventually(async () =>
      expect(await deliveries(hook.id)).toMatchObject([{ state: 'delivered', attempts: 3 }]),
    );
    const details = await plinth.admin.get(`${base()}/${hook.id}/deliveries/${id}`);
    expect(details.body.attempt_list.map(({ status }: { status: number }) => status)).toEqual([
      200, 404, 404,
    ]);
    await remove(hook);
  });

  it('that hangs delays neither writes nor other webhooks', async () => {
    const slow = await create({ table: 'orders', events: ['INSERT'] });
    const quick = await create({ table: 'orders', events: ['INSERT'] });
    receiver.answer(slow.path, () => undefined);
    await project.sql(`insert into orders select n from generate_series(2000, 2009) n`);
    await arrived(quick.path, 10);
    // The slow webhook is still at its first request, which may take ten seconds.
    expect(receiver.at(slow.path)).toHaveLength(1);
    receiver.answer(slow.path);
    await remove(slow);
    await remove(quick);
  });

  it('cannot redirect, and only 4 KB of its response are kept', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT'] });
    receiver.answer(hook.path, (response, { json }) => {
      if (json.record.id === 60) response.writeHead(302, { location: receiver.url('/elsewhere') }).end();
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.alloc(10_000_000, 'a\0'));
    });
    await project.sql('insert into orders values (60), (61)');
    await eventually(async () => {
      const [second, first] = await deliveries(hook.id);
      expect(first).toMatchObject({ state: 'waiting', status: 302, error: 'redirects are not followed' });
      expect(second).toMatchObject({ state: 'delivered', status: 200 });
    });
    const [{ id }] = await deliveries(hook.id);
    const [attempt] = (await plinth.admin.get(`${base()}/${hook.id}/deliveries/${id}`)).body.attempt_list;
    expect(attempt.answer).toHaveLength(4_096);
    expect(receiver.at('/elsewhere')).toEqual([]);
    await remove(hook);
  });

  it('gets signatures of both secrets after a rotation', async () => {
    const hook = await create({
      table: 'orders',
      events: ['INSERT'],
      secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    });
    expect(hook.secret).toBe(`whsec_${Buffer.alloc(24, 7).toString('base64')}`);
    const rotated = await plinth.admin.post(`${base()}/${hook.id}/secret`, {});
    await project.sql('insert into orders values (70)');
    const [one] = await arrived(hook.path, 1);
    const both = [rotated.body.secret as string, hook.secret].map((secret) =>
      signatureOf(one as Received, secret),
    );
    expect(one?.headers['webhook-signature']).toBe(both.join(' '));
    plinth.clock.move(86_401);
    await project.sql('insert into orders values (71)');
    const [, two] = await arrived(hook.path, 2);
    expect(two?.headers['webhook-signature']).toBe(signatureOf(two as Received, rotated.body.secret));
    plinth.clock.move(-86_401);
    const stored = await project.sql(`select encode(sealed_secrets, 'escape') as text from hooks.webhooks`);
    expect(JSON.stringify(stored)).not.toContain('whsec');
    await remove(hook);
  });
});

describe('an address', () => {
  it.each([
    'http://127.0.0.1:1/x',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/x',
    'https://localhost/x',
    'http://localhost:80/x',
    'http://0x7f.1/x',
    'http://nowhere.invalid/x',
  ])('%s is not contacted, and the error reveals nothing about the network', async (url) => {
    const hook = await create({ table: 'orders', events: ['INSERT'], url });
    await project.sql(`insert into orders (id) select coalesce(max(id), 0) + 1 from orders`);
    await eventually(async () =>
      expect(await deliveries(hook.id)).toMatchObject([
        { state: 'waiting', status: null, error: 'the address is not public, or cannot be resolved' },
      ]),
    );
    await remove(hook);
  });

  it.each([
    [{ url: 'ftp://example.com' }, 'url must be'],
    [{ url: 'https://user:secret@example.com' }, 'url must be'],
    [{ url: null }, 'url is required'],
    [{ events: [] }, 'events must contain'],
    [{ events: ['INSERT', 'INSERT'] }, 'events must contain'],
    [{ events: ['TRUNCATE'] }, 'events must be'],
    [{ events: ['user.created'] }, 'not an event of a table'],
    [{ table: null, events: ['INSERT'] }, 'not an event of auth'],
    [{ table: 'absent' }, 'does not exist'],
    [{ schema: 'auth', table: 'users' }, 'have no webhooks'],
    [{ schema: 'hooks', table: 'deliveries' }, 'have no webhooks'],
    [{ columns: ['absent'], events: ['UPDATE'] }, 'does not exist'],
    [{ columns: ['id'] }, 'columns requires a table'],
    [{ condition: 'new.absent = 1' }, 'new.absent does not exist'],
    [{ condition: 'old.id = 1' }, 'OLD'],
    [{ condition: '(select true)' }, 'subquery'],
    [{ condition: 'true)) execute function hooks.enqueue(); drop table orders' }, 'syntax error'],
    [{ condition: 'true); drop table orders; --' }, 'syntax error'],
    [{ condition: `true) execute function hooks.enqueue('${randomUUID()}', 'INSERT', '[]') --` }, 'syntax'],
    [
      { condition: `true)) execute function hooks.enqueue('${randomUUID()}', 'INSERT', '[]') --` },
      'syntax error',
    ],
    [{ condition: `true)) execute function auth.complete_user() --` }, 'syntax error'],
    [{ secret: 'whsec_short' }, 'secret must be'],
    [{ typo: 1 }, 'typo is unknown'],
  ])('and the other members are checked: %j', async (body, message) => {
    const meant = { table: 'orders', events: ['INSERT'], url: 'https://example.com', ...body };
    const answer = await plinth.admin.post(base(), meant);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
    expect(await project.sql(`select tgname from pg_trigger where tgname like 'webhook%'`)).toEqual([]);
  });
});

describe('hooks.http_post()', () => {
  it('sends requests from SQL through the same queue, once a webhook for them exists', async () => {
    const call = `select hooks.http_post('${receiver.url('/sql')}', '{"a": 1}', '{"x-kind": "test"}')`;
    await expect(project.sql(call)).rejects.toThrow('needs a webhook');
    const answer = await plinth.admin.post(base(), { events: ['http_post'] });
    expect([answer.status, answer.body.url]).toEqual([201, null]);
    const { id, secret } = answer.body;
    await project.sql(`create function tell() returns trigger language plpgsql security definer as $$ begin
        perform hooks.http_post('${receiver.url('/sql')}', jsonb_build_object('word', new.word), key => 'words'); return null; end $$;
      create trigger tell after insert on words for each row execute function tell()`);
    await project.service.post('/rest/v1/words', [{ word: 'one' }, { word: 'two' }]);
    await project.sql(call);
    const [first, second, third] = await arrived('/sql', 3);
    expect([first?.json, second?.json, third?.json]).toEqual([{ word: 'one' }, { word: 'two' }, { a: 1 }]);
    expect(third?.headers['x-kind']).toBe('test');
    expect(first?.headers['webhook-signature']).toBe(signatureOf(first as Received, secret));
    await project.sql(`drop trigger tell on words`);
    for (const [url, headers] of [
      [receiver.url('/sql'), { host: 'example.com' }],
      [receiver.url('/sql'), { 'x-a': 'b\r\nx-c: d' }],
      [receiver.url('/sql'), { 'webhook-signature': 'v1,forged' }],
      ['http://127.0.0.1:1/', {}],
    ] as const) {
      await project.sql(`select hooks.http_post('${url}', '{}', '${JSON.stringify(headers)}')`);
      await eventually(async () =>
        expect((await deliveries(id))[0]).toMatchObject({
          status: null,
          error: expect.stringContaining('address'),
        }),
      );
    }
    expect(receiver.at('/sql')).toHaveLength(3);
    await expect(project.sql(`select hooks.http_post('file:///etc/passwd', '{}')`)).rejects.toThrow(
      'takes an http',
    );
    await remove({ id });
  });
});

describe('a full queue', () => {
  const bound = async (settings: object): Promise<void> => {
    expect((await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings })).status).toBe(200);
  };
  const states = async (id: string): Promise<string[]> =>
    (await deliveries(id, '?limit=100')).map(({ state }) => state as string);
  const dead = (response: ServerResponse): void => void response.writeHead(503).end();

  it.each([
    ['webhook_queue_rows', 10, 'short'],
    // PostgreSQL cannot compress random text.
    ['webhook_queue_bytes', 10 * 4_500, 'long'],
  ])(
    'by %s skips the oldest deliveries of the longest queue, and no write fails',
    async (name, most, kind) => {
      const hook = await create({ table: 'orders', events: ['INSERT'] });
      const other = await create({ table: 'words', events: ['INSERT'] });
      for (const { path } of [hook, other]) receiver.answer(path, dead);
      await project.sql(`insert into words values ('waits')`);
      await project.sql(`insert into orders (id, note) select 300 + n, case '${kind}' when 'long' then (
        select string_agg(md5(random()::text || n || m), '') from generate_series(1, 128) m) end from generate_series(1, 40) n`);
      await arrived(hook.path, 1);
      await bound({ [name]: most });
      await eventually(async () => {
        const left = (await states(hook.id)).filter((state) => state === 'waiting').length;
        expect(left).toBeGreaterThan(7);
        expect(left).toBeLessThan(11);
      });
      const all = await deliveries(hook.id, '?limit=100');
      expect(all.find(({ state }) => state === 'waiting')).toBe(all[0]);
      expect(await states(other.id)).toEqual(['waiting']);
      const skipped = await deliveries(hook.id, '?state=failed&limit=100');
      expect(skipped.at(0).error).toBe('skipped: too many deliveries of the project waited');
      expect(all.length - skipped.length).toBeLessThan(11);
      await project.sql(`insert into orders values (399)`);
      const doctor = await plinth.admin.post('/admin/v1/doctor', {});
      expect(doctor.text).toContain(`the queue of ${project.slug} was full within a day`);
      expect((await plinth.admin.get('/metrics')).text).toMatch(
        /^plinth_webhook_attempts_total\{outcome="skipped"\} [1-9]/m,
      );
      // The remaining deliveries arrive, and a skipped delivery arrives on request.
      for (const { path } of [hook, other]) receiver.answer(path);
      await bound({ [name]: null });
      expect((await plinth.admin.post(`${base()}/${hook.id}/deliveries/${skipped[0].id}/retry`)).status).toBe(
        204,
      );
      await project.sql(`update hooks.deliveries set next_attempt_at = now() where state = 'waiting'`);
      await now();
      await eventually(async () => expect(await states(hook.id)).not.toContain('waiting'));
      expect((await deliveries(hook.id, '?limit=100')).find(({ id }) => id === skipped[0].id).state).toBe(
        'delivered',
      );
      await project.sql('delete from orders where id between 300 and 399');
      await remove(hook);
      await remove(other);
    },
  );

  it('keeps as many finished deliveries, and does not repeat a delivery that was skipped while it was sent', async () => {
    const hook = await create({ table: 'orders', events: ['INSERT'] });
    const held: ServerResponse[] = [];
    const release = (): void => held.splice(0).forEach((response) => void response.end());
    receiver.answer(hook.path, (response) => void held.push(response));
    await project.sql(`insert into orders select n from generate_series(400, 430) n`);
    await arrived(hook.path, 1);
    await bound({ webhook_queue_rows: 1 });
    // Deliveries of the project restart with the new settings after the current request is answered.
    await eventually(async () => {
      release();
      await now();
      expect((await states(hook.id)).length).toBeLessThan(3);
    });
    receiver.answer(hook.path);
    // A delivery without a response would be sent again.
    release();
    await bound({ webhook_queue_rows: null });
    await eventually(async () => expect(await states(hook.id)).not.toContain('waiting'));
    const ids = receiver.at(hook.path).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);
    await project.sql('delete from orders where id between 400 and 430');
    await remove(hook);
  });
});

describe('a hostile owner', () => {
  it('cannot cause endless deliveries, and does not affect other projects', async () => {
    const other = await plinth.createProject({ plan: 'enterprise' });
    await other.sql('create table orders (id int primary key)');
    const made = await plinth.admin.post(`/admin/v1/projects/${other.id}/webhooks`, {
      table: 'orders',
      events: ['INSERT'],
      url: receiver.url('/other'),
    });
    expect(made.status).toBe(201);
    const hook = await create({ table: 'orders', events: ['INSERT'] });
    await project.sql(`create function again() returns trigger language plpgsql as $$ begin
        new.state := 'waiting'; new.next_attempt_at := '-infinity'; return new; end $$;
      create trigger again before update on hooks.deliveries for each row execute function again();
      insert into orders values (80)`);
    await arrived(hook.path, 1);
    await other.sql('insert into orders select generate_series(1, 20)');
    await arrived('/other', 20);
    expect(receiver.at(hook.path).length).toBe(1);
    await project.sql(`drop trigger again on hooks.deliveries`);
    // A locked table delays only this project.
    await asOwner(await accessOf(plinth, project.id), async (client) => {
      await client.query('begin; lock table hooks.deliveries in access exclusive mode');
      await other.sql('insert into orders select generate_series(21, 40)');
      await arrived('/other', 40);
      await client.query('rollback');
    });
    await project.sql(`delete from hooks.deliveries;
      insert into hooks.deliveries (webhook_id, lane, key, event, payload, url, headers, next_attempt_at, attempts)
        select id, gen_random_uuid(), 1, repeat('e', 1000), repeat('p', 1000000), 'http://x', '[]', 'infinity', -5
        from hooks.webhooks, generate_series(1, 200)`);
    await now();
    expect((await plinth.admin.get(`${base()}/${hook.id}/deliveries`)).status).toBe(500);
    await other.sql('insert into orders values (41)');
    await arrived('/other', 41);
    await project.sql('delete from hooks.deliveries');
    await remove(hook);
  });

  it('who drops the table or a trigger sees that the webhook is incomplete', async () => {
    await project.sql('create table gone (id int primary key)');
    const hook = await create({ table: 'gone', events: ['INSERT'] });
    await project.sql('drop table gone');
    const listed = (await plinth.admin.get(base())).body.find(({ id }: { id: string }) => id === hook.id);
    expect(listed.complete).toBe(false);
    // An invalid address does not prevent the removal or its audit entry.
    await project.sql(`update hooks.webhooks set url = 'no address' where id = '${hook.id}'`);
    await remove(hook);
    const log = await plinth.admin.get('/admin/v1/audit-log?action=project.webhook.delete&limit=1');
    expect(log.text).toContain(hook.id);
  });
});

it('a disabled webhook queues no deliveries, and sends the waiting one when it is enabled again', async () => {
  const hook = await create({ table: 'orders', events: ['INSERT'] });
  receiver.answer(hook.path, (response) => response.writeHead(500).end());
  await project.sql('insert into orders values (90)');
  await arrived(hook.path, 1);
  await plinth.admin.patch(`${base()}/${hook.id}`, { enabled: false });
  await project.sql('insert into orders values (91)');
  expect(await deliveries(hook.id)).toHaveLength(1);
  receiver.answer(hook.path);
  await plinth.admin.patch(`${base()}/${hook.id}`, { enabled: true });
  await project.sql(`update hooks.deliveries set next_attempt_at = now() where state = 'waiting'`);
  await now();
  await eventually(async () => expect(await deliveries(hook.id)).toMatchObject([{ state: 'delivered' }]));
  const metrics = await plinth.admin.get('/metrics');
  expect(metrics.text).toMatch(/^plinth_webhook_attempts_total\{outcome="delivered"\} [1-9]/m);
  expect(metrics.text).toMatch(/^plinth_webhook_queue \d/m);
  await remove(hook);
  await until(async () => (await deliveries(hook.id)) !== undefined);
});

it('a receiver has WEBHOOK_TIMEOUT seconds, and the second attempt follows after WEBHOOK_RETRY_DELAY', async () => {
  const hasty = await TestPlinth.start({
    env: { WEBHOOK_ALLOWED_HOSTS: receiver.host, WEBHOOK_TIMEOUT: '1', WEBHOOK_RETRY_DELAY: '600' },
  });
  try {
    const own = await hasty.createProject();
    await own.sql('create table orders (id int primary key)');
    receiver.answer('/hasty', () => undefined);
    const hooks = `/admin/v1/projects/${own.id}/webhooks`;
    const hook = { table: 'orders', events: ['INSERT'], url: receiver.url('/hasty') };
    const { id } = (await hasty.admin.post(hooks, hook)).body;
    await own.sql('insert into orders values (1)');
    await eventually(async () =>
      expect((await hasty.admin.get(`${hooks}/${id}/deliveries`)).body).toMatchObject([
        { state: 'waiting', error: 'no answer within 1 s' },
      ]),
    );
    const [{ pause }] = await own.sql(
      `select extract(epoch from next_attempt_at - first_attempt_at)::float8 as pause from hooks.deliveries`,
    );
    expect(Math.abs(pause - 600)).toBeLessThan(120);
  } finally {
    await hasty.stop();
  }
});
