/**
 * Runs the commands, statements and programs of the guides as they are written. Only addresses, keys and directories
 * differ. A block that names a file after its language (```js uploads.mjs) is written to that file. test/soak/guides
 * has slow guides.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { SupabaseClient } from '@supabase/supabase-js';
import { verify } from 'jsonwebtoken';
import { addAuthenticator, BROWSER_START_MS, hasBrowser, TestBrowser } from '../support/browser';
import { until } from '../support/eventually';
import { hasNginx, TestNginx } from '../support/nginx';
import { OidcIssuer } from '../support/oidc-issuer';
import { SamlIdp } from '../support/saml-idp';
import { hasSlapd, SlapdServer } from '../support/slapd-server';
import { freePort } from '../support/plinth-process';
import {
  client,
  createProject,
  done,
  expectNotesApp,
  expectProxied,
  Guide,
  hashOf,
  keys,
  LIMIT_MS,
  metricsPort,
  PASSWORD,
  plinth,
  serve,
  sql,
  startForGuides,
  useProject,
} from './support/guides';
import { ROOT } from './support/processes';

/** The Python programs need only the standard library. Their tests are skipped without Python. */
const hasPython = spawnSync('python3', ['-c', 'import sqlite3, urllib.request']).status === 0;

/** The program of the guide to SAML begins in an application, which a browser opens again at the end. */
const SAML_READER = `import { createClient } from '@supabase/supabase-js';
const { ANON_KEY, BROWSER } = process.env;
`;
const SAML_RETURN = `
const back = new URL(await (await fetch(BROWSER + '?' + encodeURIComponent(data.url))).text());
const { data: { session } } = await supabase.auth.exchangeCodeForSession(back.searchParams.get('code'));
const claims = JSON.parse(Buffer.from(session.access_token.split('.')[1], 'base64url'));
console.log(session.user.email, claims.app_metadata.custom_claims.groups.join());
process.exit();
`;

startForGuides();

const refusal = async (
  answer: PromiseLike<{ error: { code?: string } | null }>,
): Promise<string | undefined> => (await answer).error?.code;

async function signedUp(slug: string, name: string): Promise<{ id: string; api: SupabaseClient }> {
  const api = client(slug, keys.anon);
  const { user } = await done(api.auth.signUp({ email: `${name}@example.com`, password: PASSWORD }));
  return { id: user!.id, api };
}

describe('policies.md', () => {
  const slug = 'cookbook';
  let users: Record<'ada' | 'bob' | 'eve', { id: string; api: SupabaseClient }>;
  let anon: SupabaseClient;
  let service: SupabaseClient;
  let team: string;

  beforeAll(async () => {
    const id = await createProject(slug);
    for (const text of new Guide('policies').texts('sql')) await sql(id, text);
    anon = client(slug, keys.anon);
    service = client(slug, keys.service);
    const [ada, bob, eve] = await Promise.all(['ada', 'bob', 'eve'].map((name) => signedUp(slug, name)));
    users = { ada: ada!, bob: bob!, eve: eve! };
  }, LIMIT_MS);

  const seen = async (api: SupabaseClient, table: string): Promise<number> =>
    (await done(api.from(table).select('*'))).length;

  it('own rows: users see and write only their own rows', async () => {
    const { ada, bob } = users;
    await done(ada.api.from('notes').insert({ text: 'mine' }).select());
    expect(await refusal(bob.api.from('notes').insert({ text: 'forged', user_id: ada.id }))).toBe('42501');
    expect(await done(bob.api.from('notes').delete().neq('id', 0).select())).toEqual([]);
    expect(await Promise.all([ada.api, bob.api, anon].map((api) => seen(api, 'notes')))).toEqual([1, 0, 0]);
  });

  it('public reading: everybody sees published posts, and authors see their drafts', async () => {
    const { ada, bob } = users;
    await done(
      ada.api
        .from('posts')
        .insert([
          { title: 'out', published: true },
          { title: 'draft', published: false },
        ])
        .select(),
    );
    expect(await Promise.all([ada.api, bob.api, anon].map((api) => seen(api, 'posts')))).toEqual([2, 1, 1]);
    expect(await done(bob.api.from('posts').update({ title: 'taken' }).neq('id', 0).select())).toEqual([]);
    expect(await refusal(anon.from('posts').insert({ title: 'spam', published: true }))).toBe('42501');
  });

  it('teams: only members see a team, and nobody joins by themselves', async () => {
    const { ada, eve } = users;
    team = await done(ada.api.rpc('create_team', { team_name: 'Blue' }));
    expect(await Promise.all([ada.api, eve.api, anon].map((api) => seen(api, 'teams')))).toEqual([1, 0, 0]);
    expect(await refusal(eve.api.from('members').insert({ team_id: team, role: 'owner' }))).toBe('42501');
    expect(await refusal(anon.rpc('create_team', { team_name: 'Red' }))).toBe('42501');
    // The schema of the helper function is not exposed.
    expect(await refusal(eve.api.schema('private').rpc('my_teams'))).toBe('PGRST106');
  });

  it('invitations: a code lets one person join, once, until it expires', async () => {
    const { ada, bob, eve } = users;
    const invite = async (values: object): Promise<string> => {
      const invitations = ada.api.from('invitations');
      const made = await done(
        invitations
          .insert({ team_id: team, ...values })
          .select('code')
          .single(),
      );
      return (made as { code: string }).code;
    };
    expect(await refusal(bob.api.from('invitations').insert({ team_id: team }))).toBe('42501');
    const code = await invite({});
    expect(await seen(bob.api, 'invitations')).toBe(0);
    expect(await done(bob.api.rpc('accept_invitation', { invitation: code }))).toBe(team);
    expect(await refusal(eve.api.rpc('accept_invitation', { invitation: code }))).toBe('P0001');
    const old = await invite({ expires_at: '2026-01-01T00:00:00Z' });
    expect(await refusal(eve.api.rpc('accept_invitation', { invitation: old }))).toBe('P0001');
    expect(await refusal(ada.api.from('invitations').insert({ team_id: team, role: 'owner' }))).toBe('23514');
    expect(await Promise.all([bob.api, eve.api].map((api) => seen(api, 'members')))).toEqual([2, 0]);
  });

  it('roles: viewers read, editors write, owners delete and change roles', async () => {
    const { ada, bob, eve } = users;
    const write = (api: SupabaseClient): PromiseLike<{ error: { code?: string } | null }> =>
      api.from('documents').insert({ team_id: team, body: 'text' });
    expect(await refusal(write(ada.api))).toBeUndefined();
    expect(await Promise.all([refusal(write(bob.api)), refusal(write(eve.api))])).toEqual(['42501', '42501']);
    expect(await Promise.all([bob.api, eve.api].map((api) => seen(api, 'documents')))).toEqual([1, 0]);
    const promote = (api: SupabaseClient) =>
      api.from('members').update({ role: 'editor' }).eq('user_id', bob.id).select();
    expect(await done(promote(bob.api))).toEqual([]);
    expect(await done(promote(ada.api))).toHaveLength(1);
    expect(await refusal(ada.api.from('members').update({ user_id: eve.id }).eq('user_id', bob.id))).toBe(
      '42501',
    );
    expect(await refusal(write(bob.api))).toBeUndefined();
    const clear = (api: SupabaseClient) => api.from('documents').delete().eq('team_id', team).select();
    expect(await done(clear(bob.api))).toEqual([]);
    expect(await done(clear(ada.api))).toHaveLength(2);
  });

  it('administrators read all notes, and users cannot make themselves administrators', async () => {
    const { bob, eve } = users;
    await done(eve.api.auth.updateUser({ data: { role: 'admin', app_metadata: { role: 'admin' } } }));
    await done(service.auth.admin.updateUserById(bob.id, { app_metadata: { role: 'admin' } }));
    await Promise.all([bob.api.auth.refreshSession(), eve.api.auth.refreshSession()]);
    expect(await Promise.all([bob.api, eve.api].map((api) => seen(api, 'notes')))).toEqual([1, 0]);
  });

  it('files: members read the files in the folder of their team', async () => {
    const { ada, bob, eve } = users;
    await done(service.storage.createBucket('documents'));
    await done(ada.api.storage.from('documents').upload(`${team}/plan.txt`, 'the plan'));
    const plan = (api: SupabaseClient): Promise<string> =>
      api.storage
        .from('documents')
        .download(`${team}/plan.txt`)
        .then(({ data }) => data?.text() ?? 'refused');
    expect(await Promise.all([bob.api, eve.api, anon].map(plan))).toEqual(['the plan', 'refused', 'refused']);
  });
});

/**
 * The pages about providers, and the names of the providers. Without the internet, only GitHub and local servers can be
 * configured.
 */
const PROVIDER_PAGES = [
  ['google', 'google'],
  ['microsoft-entra', 'azure'],
  ['apple', 'apple'],
  ['github', 'github'],
  ['gitlab', 'gitlab'],
  ['keycloak', 'keycloak'],
  ['okta', 'okta'],
  ['auth0', 'auth0'],
] as const;

describe('with the project of first-project.md', () => {
  const slug = 'acme';

  beforeAll(async () => {
    const id = await createProject(slug);
    const [, query = ''] =
      /project sql acme "([^"]*)"/.exec(new Guide('first-project').texts('sh')[0]!) ?? [];
    await sql(id, query);
  });

  describe('the pages about providers', () => {
    let issuer: OidcIssuer;
    const callback = (): string =>
      `http://localhost:${new URL(plinth.baseUrl).port}/p/${slug}/auth/v1/callback`;
    beforeAll(async () => {
      issuer = await OidcIssuer.start(callback());
    }, LIMIT_MS);
    afterAll(() => issuer.stop());

    it.each(PROVIDER_PAGES)(
      'sign-in-with-%s.md: the provider is saved, and tried',
      async (page, name) => {
        await useProject(slug);
        const guide = new Guide(`sign-in-with-${page}`);
        guide.writeFiles();
        const file = join(guide.folder, `${name}.json`);
        const setting = JSON.parse(readFileSync(file, 'utf8')) as object;
        const own = { client_id: 'plinth', client_secret: 'secret of plinth', issuer: issuer.url };
        const isOwn = 'issuer' in setting;
        if (isOwn) writeFileSync(file, JSON.stringify({ ...setting, ...own }));
        const [save = '', prove = ''] = guide.texts('sh');
        const [settings = ''] = prove.split('\n');
        const isTried = isOwn || name === 'github';
        const proved = await guide.shell(`${save}\n${isTried ? prove : settings}`);
        expect(proved).toContain(callback());
        expect(proved).toContain(`"${name}":true`);
        const [, url = ''] = /"url": ?"([^"]+)"/.exec(proved) ?? [];
        expect(url.startsWith(isOwn ? issuer.url : 'https://github.com/login/oauth/')).toBe(isTried);
        if (!isOwn) return;
        await issuer.setPerson({ sub: page, email: 'ada@example.com', email_verified: true });
        const shown = await fetch(await issuer.signIn(url));
        expect(await shown.text()).toContain('ada@example.com');
      },
      LIMIT_MS,
    );

    it('sign-in-with-apple.md: the program signs a client secret', async () => {
      const guide = new Guide('sign-in-with-apple');
      guide.writeFiles();
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
      writeFileSync(join(guide.folder, 'AuthKey.p8'), pem);
      const env = { TEAM_ID: 'T1', KEY_ID: 'K1', CLIENT_ID: 'com.example.web', KEY_FILE: 'AuthKey.p8' };
      const secret = (await guide.shell('node apple-secret.mjs', env)).trim();
      const claims = verify(secret, publicKey, { algorithms: ['ES256'], issuer: 'T1' });
      expect(claims).toMatchObject({ aud: 'https://appleid.apple.com', sub: 'com.example.web' });
    });
  });

  (hasPython ? it : it.skip)(
    'python.md: the program prints the row that its user wrote',
    async () => {
      await useProject(slug);
      const guide = new Guide('python');
      guide.writeFiles();
      expect(await guide.run('python3 main.py')).toBe("[{'text': 'From Python'}]\n");
    },
    LIMIT_MS,
  );

  it('dart.md: the requests that supabase_flutter sends for its calls have the answers that it reads', async () => {
    await useProject(slug);
    const code = new Guide('dart').texts('dart')[0]!;
    const [, columns = '', order, limit] =
      /\.select\('(.+?)'\)\.order\('(\w+)', ascending: false\)\.limit\((\d+)\)/.exec(code)!;
    const headers = (token: string): Record<string, string> => ({
      apikey: keys.anon,
      Authorization: `Bearer ${token}`,
      'X-Client-Info': 'supabase-flutter/2.10.0',
      'X-Supabase-Api-Version': '2024-01-01',
      'Content-Type': 'application/json; charset=utf-8',
    });
    const send = async (path: string, body?: object, token = keys.anon) => {
      const options = body && { method: 'POST', body: JSON.stringify(body) };
      const url = `${plinth.baseUrl}/p/${slug}${path}`;
      const response = await fetch(url, { ...options, headers: headers(token) });
      const text = await response.text();
      return { status: response.status, body: text === '' ? null : JSON.parse(text) };
    };
    const credentials = {
      email: 'dart@example.com',
      password: PASSWORD,
      gotrue_meta_security: { captcha_token: null },
    };
    const signIn = '/auth/v1/token?grant_type=password';
    const refused = await send(signIn, credentials);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_credentials', message: expect.any(String) },
    });
    const challenge = {
      code_challenge: randomBytes(32).toString('base64url'),
      code_challenge_method: 's256',
    };
    expect((await send('/auth/v1/signup', { ...credentials, data: null, ...challenge })).status).toBe(200);
    const { body: session } = await send(signIn, credentials);
    expect(session).toMatchObject({
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      expires_in: expect.any(Number),
      token_type: 'bearer',
      user: {
        id: expect.any(String),
        aud: 'authenticated',
        app_metadata: {},
        created_at: expect.any(String),
      },
    });
    const token = session.access_token as string;
    expect((await send('/rest/v1/notes', { text: 'From Dart' }, token)).status).toBe(201);
    const query = new URLSearchParams({
      select: columns.replaceAll(' ', ''),
      order: `${order}.desc.nullslast`,
      limit: limit!,
    });
    expect((await send(`/rest/v1/notes?${String(query)}`, undefined, token)).body).toEqual([
      { id: expect.any(Number), text: 'From Dart' },
    ]);
    expect((await send('/auth/v1/logout?scope=local', {}, token)).status).toBe(204);
    expect((await send(`/rest/v1/notes?${String(query)}`, undefined, token)).status).toBe(401);
  });

  it('live-changes.md: a page receives new rows, but only of its user', async () => {
    const project = await useProject(slug);
    const guide = new Guide('live-changes');
    await sql(project, guide.texts('sql')[0]!);
    guide.writeFiles();
    guide.linkPackages();
    writeFileSync(join(guide.folder, 'page.mjs'), FOLLOWER);
    const env = { PLINTH_URL: `${plinth.baseUrl}/p/${slug}`, ANON_KEY: keys.anon };
    const said = (await guide.shell('node page.mjs', env)).trimEnd().split('\n');
    const TOKEN = said.pop()!;
    expect(said).toEqual(['', 'first', 'first,second', 'second']);
    const stream = guide.texts('sh')[0]!.trim();
    const events = await guide.shell(`sed '/ready/q' < <(timeout 60 ${stream} 2>/dev/null)`, {
      ...env,
      TOKEN,
    });
    expect(events).toMatch(/^event: row\ndata: .*"text":"second"/m);
  });

  it(
    'chat.md: members get messages, earlier messages and the list of members; strangers get nothing; a schedule has a history',
    async () => {
      const project = await useProject(slug);
      const guide = new Guide('chat');
      for (const text of guide.texts('sql')) await sql(project, text);
      guide.writeFiles();
      guide.linkPackages();
      writeFileSync(join(guide.folder, 'page.mjs'), MEMBERS);
      const env = { PLINTH_URL: `${plinth.baseUrl}/p/${slug}`, ANON_KEY: keys.anon };
      expect((await guide.shell('node page.mjs', env)).trimEnd().split('\n')).toEqual([
        'ada reads hello',
        'ada sees 2 members, 1 writes',
        'bob reads hello',
        'bob reads and welcome',
        'eve is refused',
        'a forged message is refused',
      ]);
      await sql(project, `update messages set sent_at = now() - interval '31 days' where body = 'hello'`);
      const [commands = ''] = guide.texts('sh');
      expect(await guide.shell(commands.replaceAll('acme', slug))).toContain('old-messages');
      // A missed run is made up for, so the test does not wait for the night.
      await sql(
        project,
        `update hooks.schedules set last_due_at = now() - interval '2 days'; select pg_notify('plinth_hooks', 'again')`,
      );
      const [schedule] = (await plinth.admin.get(`/admin/v1/projects/${project}/schedules`)).body;
      await until(
        async () => (await guide.shell(`plinth schedules runs ${slug} ${schedule?.id}`)).includes('DELETE 1'),
        LIMIT_MS,
      );
    },
    2 * LIMIT_MS,
  );

  (hasBrowser ? it : it.skip)(
    'react.md: a user signs up, keeps a note, and signs out',
    async () => {
      await useProject(slug);
      const guide = new Guide('react');
      expect(await guide.run('plinth project keys')).toContain(keys.anon);
      guide.writeFiles();
      await expectNotesApp(builtWithVite(guide.folder), 'react@example.com');
    },
    LIMIT_MS + BROWSER_START_MS,
  );
});

it(
  'file-uploads.md: small, large, invited and private files',
  async () => {
    const slug = 'uploads';
    await createProject(slug);
    const guide = new Guide('file-uploads');
    guide.writeFiles();
    guide.linkPackages();
    const env = {
      PLINTH_URL: `${plinth.baseUrl}/p/${slug}`,
      ANON_KEY: keys.anon,
      SERVICE_ROLE_KEY: keys.service,
    };
    await guide.shell('node setup.mjs', env);
    writeFileSync(join(guide.folder, 'page.mjs'), UPLOADER);
    const said = JSON.parse(await guide.shell('node page.mjs', env));
    expect(said).toEqual({
      avatar: 'image/png',
      video: 9_000_000,
      last: 1,
      invited: 'from a guest',
      again: '409',
    });
  },
  LIMIT_MS,
);

/** Ada and Bob chat; Eve is not a member, and a client sends a message in another name. */
const MEMBERS = `
import { createClient } from '@supabase/supabase-js';
import { enterRoom } from './chat.mjs';

const signedUp = async (name) => {
  const plinth = createClient(process.env.PLINTH_URL, process.env.ANON_KEY, { auth: { persistSession: false } });
  const { error } = await plinth.auth.signUp({ email: 'chat-' + name + '@example.com', password: '${PASSWORD}' });
  if (error) throw error;
  return plinth;
};
const until = async (isTrue) => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
};
const read = { ada: [], bob: [] };
let members = {};
const [ada, bob, eve] = await Promise.all(['ada', 'bob', 'eve'].map(signedUp));
const enter = (name, plinth) =>
  enterRoom(plinth, 'tea', {
    onMessage: ({ body }) => read[name].push(body),
    onMembers: (state) => name === 'ada' && (members = state),
  });
const ofAda = await enter('ada', ada);
await ofAda.send('hello');
await until(() => read.ada.length === 1);
console.log('ada reads ' + read.ada[0]);
const ofBob = await enter('bob', bob);
await ofBob.setWriting(true);
const writers = () => Object.values(members).flat().filter(({ writes }) => writes).length;
await until(() => Object.keys(members).length === 2 && writers() === 1);
console.log('ada sees 2 members, 1 writes');
await ofBob.send('and welcome');
await until(() => read.bob.length === 2 && read.ada.length === 2);
for (const body of read.bob) console.log('bob reads ' + body);
await eve.realtime.setAuth((await eve.auth.getSession()).data.session.access_token);
const status = await new Promise((resolve) => eve.channel('tea', { config: { private: true } }).subscribe(resolve));
console.log(status === 'CHANNEL_ERROR' ? 'eve is refused' : status);
const { error } = await bob.from('messages').insert({ room: 'tea', body: 'x', author: (await ada.auth.getUser()).data.user.id });
console.log(error ? 'a forged message is refused' : 'a forged message is stored');
process.exit();
`;

/** Prints the notes at each call, ends after the fourth, and prints the user's token. */
const FOLLOWER = `
import { createClient } from '@supabase/supabase-js';
import { followNotes } from './live.mjs';

const signedUp = async (email) => {
  const plinth = createClient(process.env.PLINTH_URL, process.env.ANON_KEY, { auth: { persistSession: false } });
  const { data, error } = await plinth.auth.signUp({ email, password: '${PASSWORD}' });
  if (error) throw error;
  return { plinth, token: data.session.access_token };
};
const [ada, bob] = await Promise.all(['live-ada@example.com', 'live-bob@example.com'].map(signedUp));
let next;
const shown = () => new Promise((resolve) => (next = resolve));
await followNotes(ada.plinth, (notes) => {
  console.log(notes.map(({ text }) => text).join());
  next?.();
});
const write = async (plinth, act) => {
  const { error } = await act(plinth.from('notes'));
  if (error) throw error;
};
await write(bob.plinth, (notes) => notes.insert({ text: 'of somebody else' }));
for (const act of [
  (notes) => notes.insert({ text: 'first' }),
  (notes) => notes.insert({ text: 'second' }),
  (notes) => notes.delete().eq('text', 'first'),
]) {
  const told = shown();
  await write(ada.plinth, act);
  await told;
}
console.log(ada.token);
process.exit();
`;

/** Uses the functions of the guide as a page would. */
const UPLOADER = `
import { createClient } from '@supabase/supabase-js';
import { inviteUpload, linkTo, uploadAvatar, uploadInvited, uploadVideo } from './uploads.mjs';

const { PLINTH_URL, ANON_KEY, SERVICE_ROLE_KEY } = process.env;
const noStore = { auth: { persistSession: false } };
const plinth = createClient(PLINTH_URL, ANON_KEY, noStore);
const service = createClient(PLINTH_URL, SERVICE_ROLE_KEY, noStore);
const { error } = await plinth.auth.signUp({ email: 'ada@example.com', password: '${PASSWORD}' });
if (error) throw error;
const face = new Blob([new Uint8Array(1000)], { type: 'image/png' });
await uploadAvatar(plinth, face);
const avatar = await fetch(await uploadAvatar(plinth, face));
let last;
// Without a browser, tus-js-client takes bytes only.
const file = Object.assign(Buffer.alloc(9_000_000), { type: 'video/mp4' });
await uploadVideo(plinth, file, 'tour.mp4', (part) => (last = part));
const video = await (await fetch(await linkTo(plinth, 'tour.mp4'))).arrayBuffer();
const guest = createClient(PLINTH_URL, ANON_KEY, noStore);
const token = await inviteUpload(service, 'guest.txt');
const text = new Blob(['from a guest'], { type: 'text/plain' });
await uploadInvited(guest, 'guest.txt', token, text);
const again = await uploadInvited(guest, 'guest.txt', token, text).catch(({ statusCode }) => statusCode);
const invited = await (await fetch(await linkTo(service, 'guest.txt'))).text();
console.log(JSON.stringify({ avatar: avatar.headers.get('content-type'), video: video.byteLength, last, invited, again }));
process.exit();
`;

(hasPython ? it : it.skip).each(['from-pocketbase', 'from-firebase'])(
  '%s.md: users and rows are migrated',
  async (name) => {
    const slug = `${name}-project`;
    const project = await createProject(slug);
    const guide = new Guide(name);
    for (const text of guide.texts('sql')) await sql(project, text);
    guide.writeFiles();
    writeFileSync(join(guide.folder, 'plinth.py'), new Guide(`python`).texts('python')[0]!);
    if (name === 'from-pocketbase') {
      writeFileSync(join(guide.folder, 'make.py'), OLD_POCKETBASE);
      await guide.shell('python3 make.py');
    } else {
      writeFileSync(join(guide.folder, 'users.json'), JSON.stringify({ users: OLD_FIREBASE_USERS }));
      writeFileSync(join(guide.folder, 'hash-config.txt'), FIREBASE_PARAMETERS);
      const imported = await guide.shell(guide.texts('sh')[0]!.replace(' acme ', ` ${slug} `));
      expect(imported).toMatch(/^created +3$/m);
      const tasks = [{ id: 'x1', uid: 'f1', title: 'Paint', done: false }];
      writeFileSync(
        join(guide.folder, 'tasks.jsonl'),
        tasks.map((task) => `${JSON.stringify(task)}\n`).join(''),
      );
    }
    const command = guide.texts('sh').at(-1)!.replace('/p/acme', `/p/${slug}`);
    expect(await guide.shell(command)).toBe(name === 'from-firebase' ? '1 tasks\n' : '2 users, 1 tasks\n');
    const service = client(slug, keys.service);
    const [task] = await done(service.from('tasks').select());
    const { users } = await done(service.auth.admin.listUsers());
    expect(users.find(({ id }) => id === task?.user_id)?.email).toBe('ada@example.com');
    const ada = client(slug, keys.anon);
    const password = name === 'from-firebase' ? 'user1password' : PASSWORD;
    await done(ada.auth.signInWithPassword({ email: 'ada@example.com', password }));
    if (name === 'from-firebase') return;
    expect(await done(ada.from('tasks').select('title, done'))).toEqual([{ title: 'Paint', done: true }]);
  },
);

/** The example of github.com/firebase/scrypt, as is the user's hash. */
const FIREBASE_PARAMETERS = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 14,
}`;

const OLD_FIREBASE_USERS = [
  {
    localId: 'f1',
    email: 'ada@example.com',
    emailVerified: true,
    displayName: 'Ada',
    passwordHash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
    salt: '42xEC+ixf3L2lw==',
  },
  { localId: 'f2', email: 'bob@example.com' },
  { localId: 'f3', phoneNumber: '+15550100', createdAt: '1700000000000' },
];

/** Tables as PocketBase 0.23 and later creates them. */
const OLD_POCKETBASE = `
import sqlite3
db = sqlite3.connect("data.db")
db.execute("create table users (id text primary key, email text, verified boolean, name text, password text, tokenKey text)")
db.execute("create table tasks (id text primary key, title text, done boolean, owner text)")
db.execute("insert into users values ('u1', 'ada@example.com', 1, 'Ada', '${hashOf(PASSWORD)}', 't'), ('u2', 'bob@example.com', 0, '', '${hashOf('another one')}', 't')")
db.execute("insert into tasks values ('t1', 'Paint', 1, 'u1')")
db.commit()
`;

(hasNginx ? it : it.skip)(
  'nginx-caddy-tls.md: requests, uploads and sockets pass through nginx',
  async () => {
    const guide = new Guide('nginx-caddy-tls');
    await guide.shell(
      'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -subj /CN=plinth.example.com',
    );
    const port = await freePort();
    const config = guide
      .texts('nginx')[0]!
      .replace('127.0.0.1:8080', new URL(plinth.baseUrl).host)
      .replace('listen 443 ssl;\n  http2 on;', `listen 127.0.0.1:${port} ssl;`)
      .replace(/\/etc\/letsencrypt\/\S+\/fullchain.pem/, join(guide.folder, 'cert.pem'))
      .replace(/\/etc\/letsencrypt\/\S+\/privkey.pem/, join(guide.folder, 'key.pem'));
    const nginx = await TestNginx.start(config);
    try {
      const moved = await fetch(`${nginx.baseUrl}/x?y=1`, { redirect: 'manual' });
      expect([moved.status, moved.headers.get('location')?.slice(0, 8)]).toEqual([301, 'https://']);
      await expectProxied(guide, 'behind-nginx', port);
    } finally {
      await nginx.stop();
    }
  },
);

(hasSlapd ? it : it.skip)(
  'sign-in-with-ldap.md: a user of the directory signs in, with groups',
  async () => {
    const slug = 'directory';
    await createProject(slug);
    const slapd = await SlapdServer.start([{ uid: 'ada', mail: 'ada@example.com', password: PASSWORD }], {
      staff: ['ada'],
    });
    try {
      const guide = new Guide('sign-in-with-ldap');
      guide.writeFiles();
      guide.linkPackages();
      const setting = JSON.parse(readFileSync(join(guide.folder, 'ldap.json'), 'utf8')) as object;
      const reached = { ...setting, url: `ldaps://127.0.0.1:${slapd.ldapsPort}`, ca: slapd.ca };
      writeFileSync(join(guide.folder, 'ldap.json'), JSON.stringify(reached));
      const [turnOn = '', attempt = ''] = guide.texts('sh');
      await guide.shell(turnOn.replace(' acme ', ` ${slug} `));
      expect(await guide.shell(attempt.replace(' acme ', ` ${slug} `))).toMatch(/ada@example\.com.*staff/);
      const env = { PLINTH_URL: `${plinth.baseUrl}/p/${slug}`, ANON_KEY: keys.anon, LOGIN: 'ada', PASSWORD };
      expect(await guide.shell('node sign-in.mjs', env)).toBe('ada@example.com staff\n');
      await expect(guide.shell('node sign-in.mjs', { ...env, PASSWORD: 'wrong' })).rejects.toThrow(/Error/);
    } finally {
      await slapd.stop();
    }
  },
  LIMIT_MS,
);

it(
  'sign-in-with-saml.md: a person of the company signs in at the identity provider, with groups',
  async () => {
    const slug = 'saml';
    const id = await createProject(slug);
    const idp = await SamlIdp.create('https://id.example.com/saml', 'https://id.example.com/sso', Date.now);
    const published = createServer((_request, response) => response.end(idp.metadata())).listen(
      0,
      '127.0.0.1',
    );
    await once(published, 'listening');
    try {
      const site_url = 'https://app.example.com/';
      await plinth.admin.patch(`/admin/v1/projects/${id}`, { settings: { site_url } });
      const guide = new Guide('sign-in-with-saml');
      const filled = (text: string): string =>
        text
          .replaceAll('https://plinth.example.com/p/<slug>', `${plinth.baseUrl}/p/${slug}`)
          .replace(
            'https://id.example.com/saml/metadata',
            `http://127.0.0.1:${(published.address() as AddressInfo).port}/`,
          );
      const [save = ''] = guide.texts('sh');
      const saved = await guide.shell(filled(save), { SERVICE_ROLE_KEY: keys.service });
      expect(JSON.parse(saved)).toMatchObject({ domains: [{ domain: 'example.com' }] });
      const [program = ''] = guide.texts('js');
      writeFileSync(
        join(guide.folder, 'sign-in.mjs'),
        `${SAML_READER}${filled(program).replace('await supabase', 'const { data } = await supabase')}${SAML_RETURN}`,
      );
      guide.linkPackages();
      const person = { nameId: 'ada', attributes: { email: ['ada@example.com'], groups: ['admins'] } };
      // The browser of the person: to the provider, and with its response to Plinth, which leads to the application.
      const browser = createServer((request, response) => {
        const wanted = SamlIdp.requestIn(decodeURIComponent((request.url ?? '').slice(2)));
        const body = new URLSearchParams({ SAMLResponse: btoa(idp.response(wanted, person)) });
        void fetch(wanted.acsUrl, { method: 'POST', body, redirect: 'manual' }).then(({ headers }) =>
          response.end(headers.get('location')),
        );
      }).listen(0, '127.0.0.1');
      await once(browser, 'listening');
      try {
        const BROWSER = `http://127.0.0.1:${(browser.address() as AddressInfo).port}/`;
        const env = { ANON_KEY: keys.anon, BROWSER };
        expect(await guide.shell('node sign-in.mjs', env)).toBe('ada@example.com admins\n');
      } finally {
        browser.close();
      }
    } finally {
      published.close();
    }
  },
  LIMIT_MS,
);

(hasBrowser ? it : it.skip)(
  'sign-in-with-passkeys.md: a user enrols a passkey, and signs in with it alone',
  async () => {
    const slug = 'passkeys';
    await createProject(slug);
    const guide = new Guide('sign-in-with-passkeys');
    guide.writeFiles();
    const env = readFileSync(join(guide.folder, '.env.local'), 'utf8');
    writeFileSync(join(guide.folder, '.env.local'), env.replace('/p/acme', `/p/${slug}`));
    const pages = await serve(builtWithVite(guide.folder));
    const site = `http://localhost:${(pages.address() as AddressInfo).port}`;
    const browser = await TestBrowser.start({ hosts: { localhost: '127.0.0.1' } });
    try {
      const [turnOn = ''] = guide.texts('sh');
      await guide.shell(turnOn.replace(' acme ', ` ${slug} `).replace('http://localhost:5173', site));
      const page = await browser.newPage();
      await addAuthenticator(page);
      await page.goto(site);
      await page.fill('[name=email]', 'passkeys@example.com');
      await page.fill('[name=password]', PASSWORD);
      await page.click('text=Sign up');
      await page.click('text=Add a passkey');
      await page.waitForSelector('[role=status]:not(:empty):not(:text-is("Signed up"))');
      expect(await page.textContent('[role=status]')).toBe('The passkey is enrolled');
      await page.click('text=Sign out');
      await page.click('text=Sign in with a passkey');
      await page.waitForSelector('p:has-text("passkeys@example.com")');
    } finally {
      await browser.stop();
      pages.close();
    }
  },
  LIMIT_MS + BROWSER_START_MS,
);

it('monitoring.md: the second port has the checks', async () => {
  const [scrape = '', doctor = ''] = new Guide('monitoring').texts('sh');
  const shell = (text: string): Promise<string> => new Guide('monitoring').shell(text);
  expect(await shell(scrape.replace('9090', String(metricsPort)))).toMatch(
    /^plinth_check_up\{check="storage"\} 1$/m,
  );
  expect(await shell(doctor)).toMatch(/^ok +database /m);
});

/** Builds an app in the folder like the template of Vite. @returns the folder with its files */
function builtWithVite(folder: string): string {
  const packages = join(ROOT, 'console/node_modules');
  mkdirSync(join(folder, 'node_modules/@vitejs'), { recursive: true });
  for (const name of ['react', 'react-dom', 'vite', '@vitejs/plugin-react'])
    symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  symlinkSync(join(ROOT, 'node_modules/@supabase'), join(folder, 'node_modules/@supabase'));
  const template = {
    'index.html': '<!doctype html><div id="root"></div><script type="module" src="/src/main.jsx"></script>',
    'vite.config.mjs': "import react from '@vitejs/plugin-react';\nexport default { plugins: [react()] };",
    'src/main.jsx':
      "import { createRoot } from 'react-dom/client';\nimport App from './App.jsx';\n" +
      "createRoot(document.getElementById('root')).render(<App />);",
  };
  for (const [name, text] of Object.entries(template)) writeFileSync(join(folder, name), text);
  execFileSync(process.execPath, [join(packages, 'vite/bin/vite.js'), 'build', '--logLevel', 'error'], {
    cwd: folder,
  });
  return join(folder, 'dist');
}
