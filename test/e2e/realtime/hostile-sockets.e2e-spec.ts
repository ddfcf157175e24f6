/** Realtime under attack: refused upgrades, floods, oversized and malformed frames, and sockets of projects that end. */
import { connect } from 'node:net';
import { sign } from 'jsonwebtoken';
import { WebSocket } from 'ws';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
const sockets: RawSocket[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = [await plinth.createProject(), await plinth.createProject()];
});
afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.terminate();
});
afterAll(() => plinth?.stop());

/** A client that can send arbitrary frames. */
class RawSocket {
  readonly received: unknown[][] = [];
  closed: { code: number; reason: string } | null = null;

  private constructor(readonly socket: WebSocket) {
    sockets.push(this);
    socket.on('message', (data: Buffer) => this.received.push(JSON.parse(data.toString()) as unknown[]));
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
    socket.on('error', () => undefined);
  }

  static async open(
    path = `/p/${project.slug}`,
    key = project.anonKey,
    more = '&vsn=2.0.0',
  ): Promise<RawSocket> {
    const raw = new RawSocket(
      new WebSocket(
        `${plinth.baseUrl.replace('http', 'ws')}${path}/realtime/v1/websocket?apikey=${key}${more}`,
      ),
    );
    await new Promise((resolve, reject) => {
      raw.socket.once('open', resolve);
      raw.socket.once('error', reject);
    });
    return raw;
  }

  send(topic: string, event: string, payload: object, ref = '1'): void {
    this.socket.send(JSON.stringify([ref, ref, topic, event, payload]));
  }

  async join(topic: string, payload: object = { config: {} }): Promise<unknown> {
    const ref = `join-${this.received.length}`;
    this.send(topic, 'phx_join', payload, ref);
    return this.reply(ref);
  }

  async reply(ref: string): Promise<unknown> {
    const found = (): unknown[] | undefined =>
      this.received.find((one) => one[1] === ref && one[3] === 'phx_reply');
    await eventually(async () => expect(found()).toBeDefined());
    return found()?.[4];
  }

  async end(): Promise<unknown> {
    await eventually(async () => expect(this.closed).not.toBeNull());
    return this.closed;
  }
}

const refused = (reason: string): object => ({
  status: 'error',
  response: { reason: expect.stringContaining(reason) },
});
const isReply = (message: unknown[]): boolean => message[3] === 'phx_reply';
const alive = async (): Promise<void> => expect((await plinth.admin.get('/health/live')).status).toBe(200);

describe('an upgrade', () => {
  it('is refused before the upgrade, with the status of an HTTP request', async () => {
    const forged = sign({ project_id: project.id, role: 'anon', ref: project.slug }, 'x'.repeat(32));
    for (const [status, path, key, more] of [
      [401, '', '', ''],
      [401, '', 'no-token', ''],
      [401, '', forged, ''],
      [401, `/p/${other.slug}`, project.anonKey, ''],
      [404, '/p/no-such-project', project.anonKey, ''],
      [401, '', project.token({ role: 'service_role' }), ''],
      [400, '', project.anonKey, '&vsn=3.0.0'],
    ] as const)
      await expect(RawSocket.open(path, key, more)).rejects.toThrow(`Unexpected server response: ${status}`);
    await RawSocket.open('', project.anonKey);
  });

  it('to another protocol or at another path is ignored, and the request is answered as HTTP', async () => {
    for (const upgrade of [
      'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nConnection: Upgrade, HTTP2-Settings',
      'Upgrade: websocket\r\nConnection: keep-alive, Upgrade',
    ]) {
      const body = JSON.stringify({
        email: 'a@example.com',
        password: 'correct horse',
        name: 'x'.repeat(40_000),
      });
      const answers = await exchange(
        `POST /v1/auth/${project.id}/signup HTTP/1.1\r\nHost: x\r\n${upgrade}\r\napikey: ${project.anonKey}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
          `GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([expect.stringMatching(/ 4\d\d$/), 'HTTP/1.1 200']);
    }
  });
});

/** Sends text over a connection, and resolves with all that came back. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(plinth.baseUrl).port), '127.0.0.1', () => socket.write(text));
    socket.on('data', (data) => (answer += data.toString()));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('a frame', () => {
  it.each<[string, string | Buffer, number]>([
    ['of 10 MB', 'x'.repeat(10_000_000), 1009],
    ['that is not JSON', '{"topic":', 1008],
    ['that is not an array', '{}', 1008],
    ['that is deep', '['.repeat(100_000), 1008],
    [
      'whose payload is deep',
      `["1","1","realtime:a","phx_join",{"config":${'['.repeat(90)}${']'.repeat(90)}}]`,
      1008,
    ],
    ['with a topic of 64 KB', JSON.stringify(['1', '1', 'x'.repeat(65_536), 'phx_join', {}]), 1008],
    ['with numbers instead of strings', '[1,2,3,4,5]', 1008],
    ['with a payload that is a list', '["1","1","realtime:a","phx_join",[]]', 1008],
    ['that is empty and binary', Buffer.alloc(0), 1008],
    ['of an unknown binary type', Buffer.from([9, 0, 0, 1, 1, 0, 0, 97, 97]), 1008],
    ['with lengths beyond its end', Buffer.from([3, 255, 255, 255, 255, 255, 0, 97]), 1008],
    ['with an unknown encoding', Buffer.from([3, 0, 0, 1, 1, 0, 7, 97, 97]), 1008],
    ['with invalid JSON in binary', Buffer.from([3, 0, 0, 1, 1, 0, 1, 97, 97, 123]), 1008],
  ])('%s closes only its own socket', async (_name, frame, code) => {
    const [bad, good] = [await RawSocket.open(), await RawSocket.open()];
    bad.socket.send(frame);
    expect(await bad.end()).toMatchObject({ code });
    expect(await good.join('realtime:a')).toMatchObject({ status: 'ok' });
  });

  it('of an unknown event, topic or reference is answered with an error', async () => {
    const raw = await RawSocket.open();
    await raw.join('realtime:known');
    raw.send('realtime:known', 'no_such_event', {}, 'join-0');
    raw.send('realtime:unknown', 'broadcast', { event: 'x' }, 'unknown');
    expect(await raw.reply('unknown')).toMatchObject(refused('unmatched topic'));
    expect(await raw.join('no-prefix')).toMatchObject(refused('realtime:'));
    expect(await raw.join('realtime:')).toMatchObject(refused('realtime:'));
    expect(await raw.join('realtime:x', { access_token: 'x'.repeat(20_000) })).toMatchObject(
      refused('credential'),
    );
    expect(await raw.join('realtime:x', { access_token: other.anonKey })).toMatchObject(
      refused('credential'),
    );
    expect(
      await raw.join('realtime:x', { config: { private: true, broadcast: 7, presence: [] } }),
    ).toMatchObject(refused('permissions'));
  });
});

describe('a flood', () => {
  it('of joins is bounded per socket, and of messages closes it', async () => {
    const raw = await RawSocket.open();
    for (let n = 0; n < 150; n += 1) raw.send(`realtime:${n}`, 'phx_join', {}, String(n));
    expect(await raw.reply('99')).toMatchObject({ status: 'ok' });
    expect(await raw.reply('149')).toMatchObject(refused('at most 100 channels'));
    for (let n = 0; n < 100_000; n += 1) raw.send(`realtime:${n}`, 'phx_join', {}, String(n));
    expect(await raw.end()).toEqual({ code: 1008, reason: 'too many messages a second' });
    await alive();
  });

  it('of bytes closes the socket, as does a client that does not read', async () => {
    const raw = await RawSocket.open();
    const large = { event: 'x', payload: { text: 'x'.repeat(200_000) } };
    for (let n = 0; n < 40; n += 1) raw.send('realtime:a', 'broadcast', large);
    expect(await raw.end()).toEqual({ code: 1008, reason: 'too many bytes a second' });

    const reader = await RawSocket.open();
    await reader.join('realtime:slow');
    (reader.socket as unknown as { _socket: { pause(): void } })._socket.pause();
    const { metric } = { metric: async () => (await plinth.admin.get('/metrics')).text };
    expect(await metric()).toMatch(/plinth_realtime_channels 1\n/);
    const message = { topic: 'slow', event: 'x', payload: { text: 'x'.repeat(200_000) } };
    await eventually(async () => {
      await project.service.post(`/p/${project.slug}/realtime/v1/api/broadcast`, {
        messages: [message, message],
      });
      expect(await metric()).toMatch(/plinth_realtime_channels 0\n/);
    });
    (reader.socket as unknown as { _socket: { resume(): void } })._socket.resume();
    await reader.end();
  });

  it('of presences stops at the limit of the memory that a project may hold', async () => {
    const meta = { event: 'track', payload: { a: 'x'.repeat(4_000) } };
    let [held, refusal] = [0, ''];
    while (refusal === '' && held < 4_000) {
      const raw = await RawSocket.open();
      for (let n = 0; n < 100; n += 1) {
        raw.send(`realtime:${held}-${n}`, 'phx_join', { config: { presence: { key: 'k' } } }, `j${n}`);
        raw.send(`realtime:${held}-${n}`, 'presence', meta, `j${n}`);
      }
      await eventually(async () => expect(raw.received.filter(isReply).length).toBe(200));
      const refused = raw.received.find(
        (one) => isReply(one) && JSON.stringify(one).includes('too much memory'),
      );
      refusal = JSON.stringify(refused?.[4] ?? '').replace('""', '');
      held += 100;
    }
    expect([held, refusal]).toEqual([
      2_100,
      JSON.stringify({
        status: 'error',
        response: { reason: 'The presences of the project hold too much memory' },
      }),
    ]);
    await alive();
  });

  it('of notifications about unreadable messages causes one query per second', async () => {
    const raw = await RawSocket.open(`/p/${other.slug}`, other.anonKey);
    await raw.join('realtime:unread');
    await other.sql(`create sequence public.tries; grant all on sequence public.tries to service_role;
      create function public.tried(uuid) returns uuid language plpgsql as $$ begin
        perform nextval('public.tries'); raise exception 'no'; end $$;
      alter table realtime.messages rename to kept;
      create view realtime.messages as select public.tried(id) as id, topic, event, private, extension, payload, inserted_at
        from (select gen_random_uuid() as id, 'a' as topic, 'b' as event, false as private, 'broadcast' as extension,
          '{}'::jsonb as payload, now() as inserted_at) one;
      grant all on realtime.messages to service_role`);
    const tries = async (): Promise<number> =>
      Number((await other.sql('select last_value::int as n from public.tries'))[0].n);
    for (let n = 0; n < 40; n += 1) {
      const before = await tries();
      await other.sql(`select pg_notify('plinth_realtime', gen_random_uuid()::text)`);
      if (n === 0) await eventually(async () => expect(await tries()).toBeGreaterThan(before));
    }
    const [from, at] = [await tries(), Date.now()];
    await eventually(async () => expect(await tries()).toBeGreaterThan(from + 2));
    expect((await tries()) - from).toBeLessThanOrEqual((Date.now() - at) / 1_000 + 2);
  });

  it('of sockets stops at the limit of the project', async () => {
    await plinth.admin.patch(`/admin/v1/projects/${other.id}`, { settings: { realtime_sockets: 2 } });
    const path = `/p/${other.slug}`;
    await RawSocket.open(path, other.anonKey);
    await RawSocket.open(path, other.anonKey);
    await expect(RawSocket.open(path, other.anonKey)).rejects.toThrow('429');
    await RawSocket.open();
  });
});

describe('sockets end', () => {
  it('when public channels are turned off, when keys are rotated, and when the project is paused or deleted', async () => {
    const own = await plinth.createProject();
    const path = `/p/${own.slug}`;
    const raw = await RawSocket.open(path, own.anonKey);
    expect(await raw.join('realtime:a')).toMatchObject({ status: 'ok' });
    await plinth.admin.patch(`/admin/v1/projects/${own.id}`, {
      settings: { realtime_public_channels: false },
    });
    await eventually(async () => expect(await raw.join('realtime:b')).toMatchObject(refused('private')));
    const rotated = await plinth.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 0 });
    expect(await raw.end()).toMatchObject({ code: 1008, reason: 'the apikey is no longer valid' });
    const next = await RawSocket.open(path, rotated.body.anon_key);
    await plinth.admin.post(`/admin/v1/projects/${own.id}/pause`);
    expect(await next.end()).toMatchObject({ code: 1008, reason: 'the project is paused' });
    await expect(RawSocket.open(path, rotated.body.anon_key)).rejects.toThrow('503');
  });
});
