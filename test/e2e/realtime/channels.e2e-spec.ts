/** Channels as the unmodified supabase-js uses them: broadcast, presence, private channels, and the end of access. */
import { createClient, type RealtimeChannel, type SupabaseClient } from '@supabase/supabase-js';
import { WebSocket } from 'ws';
import { eventually } from '../../support/eventually';
import { accessOf, asOwner } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import type { TestProject, TestUser } from '../../support/test-project';

let plinth: TestPlinth;
let replica: TestPlinth;
let project: TestProject;
let alice: TestUser;
const clients: SupabaseClient[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  replica = await TestPlinth.start({ replicaOf: plinth });
  project = await plinth.createProject({ plan: 'enterprise' });
  alice = await project.signUp();
  await project.sql(`
    create policy "members receive" on realtime.messages for select to authenticated
      using (realtime.topic() = 'team' or topic = 'presence-only' and extension = 'presence');
    create policy "members send" on realtime.messages for insert to authenticated
      with check (realtime.topic() in ('team', 'write-only'));
    create table notes (id int primary key, body text);
    create function tell() returns trigger language plpgsql security definer as $$
    begin
      perform realtime.broadcast_changes('team', tg_op, tg_op, tg_table_name, tg_table_schema, new, old);
      return null;
    end $$;
    create trigger tell after insert or update or delete on notes for each row execute function tell();`);
});

afterEach(async () => {
  await Promise.all(
    clients.splice(0).map(async (client) => {
      await client.removeAllChannels();
      await client.realtime.disconnect();
    }),
  );
});

afterAll(async () => {
  await replica?.stop();
  await plinth?.stop();
});

type Options = NonNullable<Parameters<SupabaseClient['channel']>[1]>['config'];

function client(key = project.anonKey, at = plinth, accessToken?: () => string): SupabaseClient {
  const made = createClient(`${at.baseUrl}/p/${project.slug}`, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    realtime: { transport: WebSocket as never },
    ...(accessToken === undefined ? {} : { accessToken: () => Promise.resolve(accessToken()) }),
  });
  clients.push(made);
  return made;
}

const signedIn = (at = plinth, token = alice.accessToken): SupabaseClient =>
  client(project.anonKey, at, () => token);

/** Joins, and collects what arrives. */
async function join(from: SupabaseClient, name: string, config: Options = {}): Promise<Joined> {
  const channel = from.channel(name, { config });
  const joined: Joined = { channel, messages: [], statuses: [], system: [] };
  channel.on('broadcast', { event: '*' }, (message) => joined.messages.push(message));
  channel.on('system', {}, (message: unknown) => joined.system.push(message));
  await subscribed(joined);
  return joined;
}

interface Joined {
  readonly channel: RealtimeChannel;
  // oxlint-disable-next-line typescript/no-explicit-any -- messages of the product under test
  readonly messages: any[];
  readonly statuses: string[];
  readonly system: unknown[];
}

async function subscribed({ channel, statuses }: Joined): Promise<void> {
  // supabase-js requests the token in the background, so without this a channel is joined with the key.
  if (channel.socket.accessToken) await channel.socket.setAuth();
  const reason = await new Promise<unknown>((resolve) => {
    channel.subscribe((status, error) => {
      statuses.push(status);
      resolve(String(status) === 'SUBSCRIBED' ? null : (error ?? status));
    });
  });
  if (reason !== null) throw reason as Error;
}

/** Polls until the expectation holds. */
const soon = (expectation: () => void): Promise<void> => eventually(async () => expectation());

const payloads = ({ messages }: Joined): unknown[] => messages.map(({ payload }) => payload as unknown);

describe('broadcast', () => {
  it('reaches the other members in order, here and at another process, and not the sender', async () => {
    const [sender, member, remote] = [
      await join(client(), 'room'),
      await join(client(), 'room'),
      await join(client(project.anonKey, replica), 'room'),
    ];
    for (let n = 0; n < 20; n += 1)
      await sender.channel.send({ type: 'broadcast', event: 'n', payload: { n } });
    const all = Array.from({ length: 20 }, (_, n) => ({ n }));
    await soon(() => expect(payloads(member)).toEqual(all));
    await soon(() => expect(payloads(remote)).toEqual(all));
    expect(sender.messages).toEqual([]);
    expect(member.messages[0]).toMatchObject({ type: 'broadcast', event: 'n' });
    const metrics = ({ admin }: TestPlinth): Promise<string> =>
      admin.get('/metrics').then(({ text }) => text);
    expect(await metrics(plinth)).toMatch(/^plinth_realtime_sockets 2$/m);
    expect(await metrics(replica)).toMatch(/^plinth_realtime_sockets 1$/m);
    expect(await metrics(plinth)).toMatch(/^plinth_realtime_messages_received_total (2\d|[3-9]\d|\d{3,})$/m);
  });

  it('reaches the sender on request, and is acknowledged', async () => {
    const self = await join(client(), 'self', { broadcast: { self: true, ack: true } });
    expect(await self.channel.send({ type: 'broadcast', event: 'x', payload: { a: 'é' } })).toBe('ok');
    await soon(() => expect(payloads(self)).toEqual([{ a: 'é' }]));
  });

  it('carries bytes, and 200 KB to another process', async () => {
    const [sender, remote] = [
      await join(client(), 'large'),
      await join(client(project.anonKey, replica), 'large'),
    ];
    const text = 'é'.repeat(100_000);
    await sender.channel.send({ type: 'broadcast', event: 'text', payload: { text } });
    await sender.channel.send({
      type: 'broadcast',
      event: 'bytes',
      payload: new Uint8Array([1, 0, 255]).buffer,
    });
    await soon(() => expect(remote.messages).toHaveLength(2));
    expect(payloads(remote)[0]).toEqual({ text });
    expect([...new Uint8Array(payloads(remote)[1] as ArrayBuffer)]).toEqual([1, 0, 255]);
  });

  it('works with version 1.0.0 of the protocol too', async () => {
    const member = await join(client(), 'versions');
    const socket = new WebSocket(
      `${plinth.baseUrl.replace('http', 'ws')}/realtime/v1/websocket?apikey=${project.anonKey}&vsn=1.0.0`,
    );
    const received: Record<string, unknown>[] = [];
    socket.on('message', (data: Buffer) =>
      received.push(JSON.parse(data.toString()) as Record<string, unknown>),
    );
    await new Promise((resolve) => socket.once('open', resolve));
    const send = (message: object): void => socket.send(JSON.stringify(message));
    send({ topic: 'phoenix', event: 'heartbeat', payload: {}, ref: '1' });
    send({ topic: 'realtime:versions', event: 'phx_join', payload: { config: {} }, ref: '2', join_ref: '2' });
    await soon(() =>
      expect(received).toEqual([
        {
          topic: 'phoenix',
          event: 'phx_reply',
          payload: { status: 'ok', response: {} },
          ref: '1',
          join_ref: null,
        },
        {
          topic: 'realtime:versions',
          event: 'phx_reply',
          payload: { status: 'ok', response: { postgres_changes: [] } },
          ref: '2',
          join_ref: '2',
        },
        { topic: 'realtime:versions', event: 'presence_state', payload: {}, ref: null, join_ref: '2' },
      ]),
    );
    send({
      topic: 'realtime:versions',
      event: 'broadcast',
      payload: { type: 'broadcast', event: 'old', payload: { v: 1 } },
      ref: '3',
      join_ref: '2',
    });
    await soon(() => expect(payloads(member)).toEqual([{ v: 1 }]));
    await member.channel.send({ type: 'broadcast', event: 'new', payload: { v: 2 } });
    await soon(() =>
      expect(received.at(-1)).toMatchObject({
        event: 'broadcast',
        payload: { event: 'new', payload: { v: 2 } },
      }),
    );
    send({ topic: 'realtime:versions', event: 'phx_leave', payload: {}, ref: '4', join_ref: '2' });
    await soon(() => expect(received.at(-1)).toMatchObject({ event: 'phx_close', ref: '2' }));
    socket.close();
  });

  it('is sent over HTTP, one and many', async () => {
    const member = await join(client(), 'http');
    const sent = await project.anon.post(`/p/${project.slug}/realtime/v1/api/broadcast`, {
      messages: [
        { topic: 'http', event: 'a', payload: { n: 1 } },
        { topic: 'http', event: 'b', payload: { n: 2 }, private: false },
      ],
    });
    expect(sent.status).toBe(202);
    const other = client().channel('http');
    expect(await other.httpSend('c', { n: 3 })).toEqual({ success: true });
    await soon(() => expect(member.messages.map(({ event }) => event as string)).toEqual(['a', 'b', 'c']));
    expect(payloads(member)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('is sent over HTTP as bytes', async () => {
    const member = await join(client(), 'bytes');
    const bytes = new Uint8Array([0, 1, 254, 255]);
    expect(await client().channel('bytes').httpSend('raw', bytes)).toEqual({ success: true });
    await soon(() =>
      expect(payloads(member).map((payload) => new Uint8Array(payload as ArrayBuffer))).toEqual([bytes]),
    );
    const large = client()
      .channel('bytes')
      .httpSend('raw', new Uint8Array(256 * 1024 + 1));
    await expect(large).rejects.toThrow('larger than');
  });
});

describe('presence', () => {
  it('lists all members at all processes, follows updates, and ends with the socket', async () => {
    const [one, two] = [client(), client(project.anonKey, replica)];
    const [here, there] = [
      one.channel('lobby', { config: { presence: { key: 'one' } } }),
      two.channel('lobby', { config: { presence: { key: 'two' } } }),
    ];
    for (const channel of [here, there]) {
      channel.on('presence', { event: 'sync' }, () => undefined);
      await new Promise((resolve) =>
        channel.subscribe((status) => String(status) === 'SUBSCRIBED' && resolve(null)),
      );
    }
    expect(await here.track({ mood: 'calm' })).toBe('ok');
    expect(await there.track({ mood: 'busy' })).toBe('ok');
    const both = {
      one: [expect.objectContaining({ mood: 'calm' })],
      two: [expect.objectContaining({ mood: 'busy' })],
    };
    await soon(() => expect(here.presenceState()).toEqual(both));
    await soon(() => expect(there.presenceState()).toEqual(both));
    await here.track({ mood: 'happy' });
    await soon(() =>
      expect(there.presenceState()).toMatchObject({ one: [expect.objectContaining({ mood: 'happy' })] }),
    );
    // A client that joins later also receives the members.
    const late = client(project.anonKey, replica).channel('lobby');
    late.on('presence', { event: 'sync' }, () => undefined);
    late.subscribe();
    await soon(() => expect(Object.keys(late.presenceState()).sort()).toEqual(['one', 'two']));
    await there.untrack();
    await soon(() => expect(Object.keys(here.presenceState())).toEqual(['one']));
    await one.realtime.disconnect();
    await soon(() => expect(there.presenceState()).toEqual({}));
  });
});

describe('private channels', () => {
  const asPrivate = { private: true } as const;

  it('admit by the policies for select', async () => {
    await expect(join(client(), 'team', asPrivate)).rejects.toThrow(/permissions to read/);
    await expect(join(signedIn(), 'other', asPrivate)).rejects.toThrow(/permissions to read/);
    await join(signedIn(), 'team', asPrivate);
    await join(client(project.serviceKey), 'any', asPrivate);
  });

  it('send by the policies for insert, over HTTP too', async () => {
    const member = await join(client(project.serviceKey), 'write-only', asPrivate);
    const path = `/p/${project.slug}/realtime/v1/api/broadcast`;
    const message = { topic: 'write-only', event: 'x', payload: {}, private: true };
    expect((await project.anon.post(path, { messages: [message] })).status).toBe(403);
    expect((await alice.http.post(path, { messages: [message] })).status).toBe(202);
    await soon(() => expect(member.messages).toHaveLength(1));
    const reader = await join(signedIn(), 'presence-only', { ...asPrivate, broadcast: { ack: true } });
    expect(await reader.channel.send({ type: 'broadcast', event: 'x', payload: {} })).toBe('error');
    expect(await project.sql('select count(*)::int as n from realtime.messages')).toEqual([{ n: 0 }]);
  });

  it('receive the messages of SQL after its commit, at every process, and replay them', async () => {
    const [member, remote, outsider] = [
      await join(signedIn(), 'team', asPrivate),
      await join(signedIn(replica), 'team', asPrivate),
      await join(client(), 'team'),
    ];
    await project.sql(
      `insert into notes values (1, 'first'); update notes set body = 'second'; delete from notes`,
    );
    await project.sql(`select realtime.send('{"n": 1}', 'open', 'team', false)`);
    for (const one of [member, remote])
      await soon(() =>
        expect(one.messages.map(({ event }) => event as string)).toEqual(['INSERT', 'UPDATE', 'DELETE']),
      );
    expect(payloads(member)[1]).toMatchObject({
      operation: 'UPDATE',
      schema: 'public',
      table: 'notes',
      record: { id: 1, body: 'second' },
      old_record: { id: 1, body: 'first' },
    });
    await soon(() => expect(payloads(outsider)).toMatchObject([{ n: 1 }]));
    const late = await join(signedIn(), 'team', {
      ...asPrivate,
      broadcast: { replay: { since: 0, limit: 2 } },
    });
    await soon(() => expect(late.messages.map(({ event }) => event as string)).toEqual(['UPDATE', 'DELETE']));
    expect(late.messages[0]).toMatchObject({ meta: { replayed: true, id: expect.any(String) } });
  });
});

describe('postgres_changes', () => {
  beforeAll(() =>
    project.sql(`
      create table tasks (id int primary key, owner uuid, title text, done boolean);
      alter table tasks replica identity full;
      create policy own on tasks for all to authenticated using (owner = auth.uid());
      create publication supabase_realtime for table tasks`),
  );

  it('reach callers that may read the rows, and only for the requested events, filters and columns', async () => {
    const bob = await project.signUp();
    const seen: Record<string, unknown[]> = { alice: [], inserts: [], done: [], titles: [], bob: [] };
    const listen = async (name: string, token: string, given: Record<string, unknown>): Promise<void> => {
      const channel = signedIn(plinth, token).channel(name);
      const wanted = { event: '*', schema: 'public', table: 'tasks', ...given } as never;
      channel.on('postgres_changes' as never, wanted, (change: unknown) => seen[name]?.push(change));
      await subscribed({ channel, messages: [], statuses: [], system: [] });
    };
    await listen('alice', alice.accessToken, {});
    await listen('inserts', alice.accessToken, { event: 'INSERT' });
    await listen('done', alice.accessToken, { filter: 'done=eq.true' });
    await listen('titles', alice.accessToken, { select: ['title'] });
    await listen('bob', bob.accessToken, {});
    await project.sql(`
      insert into tasks values (1, '${alice.id}', 'one', false), (2, '${bob.id}', 'two', true);
      update tasks set done = true where id = 1;
      delete from tasks where id = 1`);
    const types = (name: string): unknown[] =>
      (seen[name] ?? []).map((one) => (one as { eventType: string }).eventType);
    await soon(() => expect(types('alice')).toEqual(['INSERT', 'UPDATE', 'DELETE']));
    await soon(() => expect(types('inserts')).toEqual(['INSERT']));
    await soon(() => expect(types('done')).toEqual(expect.arrayContaining(['UPDATE'])));
    await soon(() => expect(seen.titles).toContainEqual(expect.objectContaining({ new: { title: 'one' } })));
    await soon(() => expect(types('bob')[0]).toBe('INSERT'));
    expect(seen.alice?.[0]).toMatchObject({
      schema: 'public',
      table: 'tasks',
      new: { id: 1, title: 'one', done: false },
    });
    expect(JSON.stringify(seen.bob)).not.toContain('"one"');
  });

  /** Ids of the rows of `tasks` that a channel gets. */
  async function idsOf(
    from: SupabaseClient,
    ...listeners: object[]
  ): Promise<{ ids: number[]; channel: RealtimeChannel; joined: Promise<void> }> {
    const ids: number[] = [];
    const channel = from.channel('rows');
    for (const one of listeners) {
      const wanted = { event: 'INSERT', schema: 'public', table: 'tasks', ...one } as never;
      channel.on('postgres_changes' as never, wanted, ({ new: row }: { new: { id: number } }) =>
        ids.push(row.id),
      );
    }
    return { ids, channel, joined: subscribed({ channel, messages: [], statuses: [], system: [] }) };
  }

  it('reach a channel exactly once while its token is renewed, even if they are being checked', async () => {
    await project.sql(`create function slow() returns boolean language plpgsql as
      $$ begin perform pg_sleep(0.03); return true; end $$;
      alter policy own on tasks using (owner = auth.uid() and slow())`);
    let renewals = 0;
    const newToken = (): string => project.token({ sub: alice.id, role: 'authenticated', n: renewals++ });
    const from = client(project.anonKey, plinth, newToken);
    const { ids, channel, joined } = await idsOf(from, {});
    await joined;
    const all = Array.from({ length: 30 }, (_, n) => 100 + n);
    for (const id of all) {
      await channel.socket.setAuth();
      await project.sql(`insert into tasks values (${id}, '${alice.id}')`);
    }
    await soon(() => expect(ids).toHaveLength(all.length));
    expect(ids).toEqual(all);
    await project.sql('alter policy own on tasks using (owner = auth.uid())');
  });

  it('from the past reach a channel after the reply to its join, and not again after a renewal', async () => {
    const access = await accessOf(plinth, project.id);
    await project.sql(`create table gate (id int);
      grant select on gate to authenticated;
      create table gated (id int primary key);
      create policy open on gated for select to authenticated using ((select count(*) from gate) = 0);
      alter publication supabase_realtime add table gated`);
    const present = await idsOf(signedIn(), {});
    await present.joined;
    const [{ position }] = await project.sql('select pg_current_wal_insert_lsn()::text as position');
    await project.sql(`insert into tasks values (200, '${alice.id}')`);
    await soon(() => expect(present.ids).toEqual([200]));
    let token = alice.accessToken;
    const from = client(project.anonKey, plinth, () => token);
    const [{ ids, channel, joined }, past] = await asOwner(access, async (owner) => {
      await owner.query('begin; lock table gate in access exclusive mode');
      const held = await idsOf(from, { position }, { table: 'gated', filter: 'id=gt.0' });
      await eventually(async () => {
        const { rows } = await owner.query(
          'select from pg_locks where not granted and relation = $1::regclass',
          ['gate'],
        );
        expect(rows).toHaveLength(1);
      });
      // The changes that this channel receives have also reached the channel that joined earlier.
      const free = await idsOf(signedIn(), { position });
      await free.joined;
      await soon(() => expect(free.ids).toEqual([200]));
      await owner.query('rollback');
      return [held, free] as const;
    });
    await joined;
    await soon(() => expect(ids).toEqual([200]));
    token = project.token({ sub: alice.id, role: 'authenticated' });
    await channel.socket.setAuth();
    await project.sql(`insert into tasks values (201, '${alice.id}')`);
    await soon(() => expect([ids.at(-1), past.ids.at(-1)]).toEqual([201, 201]));
    expect([ids, past.ids]).toEqual([
      [200, 201],
      [200, 201],
    ]);
  });

  it('are refused for unpublished tables and invalid filters', async () => {
    for (const [given, reason] of [
      [{ table: 'notes' }, 'not published'],
      [{ table: 'tasks', filter: 'no filter' }, ''],
      [{ table: 'tasks', event: 'TRUNCATE' }, 'event'],
    ] as const) {
      const channel = signedIn().channel('refused');
      channel.on(
        'postgres_changes' as never,
        { event: '*', schema: 'public', ...given } as never,
        () => undefined,
      );
      await expect(subscribed({ channel, messages: [], statuses: [], system: [] })).rejects.toThrow(reason);
    }
  });
});

describe('the end of access', () => {
  it('follows a sign-out within two seconds, and a new token renews it', async () => {
    const user = await project.signUp();
    let token = user.accessToken;
    const own = signedIn(plinth, user.accessToken);
    const joined = await join(own, 'ends');
    const renewing = await join(
      client(project.anonKey, plinth, () => token),
      'ends',
    );
    token = alice.accessToken;
    await renewing.channel.socket.setAuth();
    await user.http.post(`${project.auth}/logout`, {});
    await soon(() => expect(joined.statuses.at(-1)).toBe('CLOSED'));
    expect(joined.system).toMatchObject([{ status: 'error', message: expect.stringContaining('session') }]);
    await expect(join(signedIn(plinth, user.accessToken), 'ends')).rejects.toThrow(/session/);
    expect(renewing.statuses).toEqual(['SUBSCRIBED']);
  });

  it('follows a ban, the expiry of a token, and a pause', async () => {
    const user = await project.signUp();
    const banned = await join(signedIn(plinth, user.accessToken), 'ends');
    const exp = Math.floor(plinth.clock.now() / 1_000) + 60;
    const expiring = await join(signedIn(plinth, project.token({ role: 'authenticated', exp })), 'ends');
    const rights = { name: 'short', kind: 'secret', expires_in: 60 };
    const short = await plinth.admin.post(`/admin/v1/projects/${project.id}/api-keys`, rights);
    const named = await join(signedIn(plinth, short.body.key), 'ends');
    await project.sql(
      `update auth.users set banned_until = now() + interval '1 hour' where id = '${user.id}'`,
    );
    await soon(() => expect(banned.statuses.at(-1)).toBe('CLOSED'));
    for (const { statuses } of [expiring, named]) expect(statuses).toEqual(['SUBSCRIBED']);
    plinth.clock.move(61);
    for (const { statuses } of [expiring, named]) await soon(() => expect(statuses.at(-1)).toBe('CLOSED'));
    plinth.clock.move(-61);
    expect(expiring.system).toMatchObject([{ message: 'Token has expired' }]);
  });
});
