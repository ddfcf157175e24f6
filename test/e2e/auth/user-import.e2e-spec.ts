/** Users of another system, imported as JSON Lines. */
import { hashSync } from 'bcryptjs';
import { argon2id } from 'hash-wasm';
import { pbkdf2Sync, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const PASSWORD = 'imported password';
const HASH = hashSync(PASSWORD, 5);

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start({ tuning: { bcryptCost: 5 } });
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

// oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
async function send(body: string, query = '', of = project.id): Promise<{ status: number; body: any }> {
  const answer = await fetch(`${plinth.baseUrl}/admin/v1/projects/${of}/users/import${query}`, {
    method: 'POST',
    headers: { authorization: plinth.admin.headers.authorization!, 'content-type': 'application/x-ndjson' },
    body,
  });
  return { status: answer.status, body: await answer.json() };
}
const lines = (...users: object[]): string => users.map((user) => `${JSON.stringify(user)}\n`).join('');
const signIn = async (email: string, password = PASSWORD): Promise<number> =>
  (await project.client(project.anonKey, null).post(`${project.auth}/login`, { email, password })).status;
// oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
const stored = async (id: string): Promise<any> =>
  (await project.sql(`select to_jsonb(u) || '{}' as row from auth.users u where id = '${id}'`))[0].row;
const address = (): string => `ada-${randomUUID()}@example.com`;

it('stores hash, identities, confirmations, metadata, phone, times and ban, and skips existing users when repeated', async () => {
  const [id, banned, anonymous] = [randomUUID(), randomUUID(), randomUUID()];
  const [email, phone] = [address(), `49151${Date.now() % 10_000_000_000}`];
  const body = lines(
    {
      id,
      email: email.toUpperCase(),
      phone: `+${phone}`,
      password_hash: HASH,
      email_confirmed_at: '2024-02-03T04:05:06Z',
      phone_confirmed_at: '2024-02-03T04:05:06Z',
      created_at: '2023-01-02T03:04:05.678Z',
      last_sign_in_at: '2024-03-01T00:00:00Z',
      user_metadata: { full_name: 'Ada Lovelace' },
      app_metadata: { role: 'admin' },
      identities: [
        { provider: 'google', id: '117', data: { email } },
        { provider: 'email', id },
        { provider: 'discord', id: '9' },
        { provider: 'company', id: '1', issuer: 'https://sso.example.com' },
      ],
    },
    { id: banned, email: address(), password_hash: HASH, banned_until: '2999-01-01T00:00:00Z' },
    { id: anonymous, identities: [{ provider: 'github', id: '7' }] },
    { email: address(), phone: '+4915112345678' },
  );
  const counts = { users: 4, updated: 0, failed: 0, errors: [], unknown_providers: ['discord', 'email'] };
  expect(await send(body)).toEqual({
    status: 200,
    body: { ...counts, created: 4, skipped: 0, identities: 3 },
  });
  expect(await send(`${body}\n \r\n`)).toMatchObject({
    body: { ...counts, created: 0, skipped: 4, identities: 0 },
  });
  expect(await stored(id)).toMatchObject({
    email: email.toUpperCase(),
    phone,
    name: 'Ada Lovelace',
    encrypted_password: HASH,
    data: { full_name: 'Ada Lovelace' },
    app_data: { role: 'admin', provider: 'email', providers: ['email', 'google', 'company'] },
    is_anonymous: false,
    email_verified_at: '2024-02-03T04:05:06+00:00',
    phone_verified_at: '2024-02-03T04:05:06+00:00',
    created_at: '2023-01-02T03:04:05.678+00:00',
    last_sign_in_at: '2024-03-01T00:00:00+00:00',
  });
  expect(await stored(anonymous)).toMatchObject({ is_anonymous: true, email: '' });
  const linked = await project.sql(
    `select provider, issuer, subject from auth.identities where user_id = '${id}' order by provider`,
  );
  expect(linked).toEqual([
    { provider: 'company', issuer: 'https://sso.example.com', subject: '1' },
    { provider: 'google', issuer: 'https://accounts.google.com', subject: '117' },
  ]);
  expect(await signIn(email)).toBe(200);
  expect(await signIn((await stored(banned)).email)).not.toBe(200);
  const audit = await plinth.admin.get(
    `/admin/v1/audit-log?project_id=${project.id}&action=project.users.import`,
  );
  expect(audit.body[0]?.details).toMatchObject({ users: 4, skipped: 4 });
});

const BOMB = '$argon2id$v=19$m=4194304,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$' + 'a'.repeat(43);
it.each([
  ['is not JSON', '{"email": ', 'The line is not valid JSON'],
  ['is a list', '[]', 'The line is not a JSON object'],
  ['is not UTF-8', Buffer.from('7b22656d61696c223a22ff227d', 'hex'), 'The line is not valid JSON'],
  ['has an unknown member', '{"mail": "a@example.com"}', 'mail is unknown'],
  ['has a wrong type', '{"email": 7}', 'email is not a string'],
  ['has no address', '{"email": "ada"}', 'email is not an address'],
  ['has no UUID', '{"id": "1; drop table"}', 'id is not a UUID'],
  ['holds a NUL', '{"email":"a@example.com","user_metadata":{"a":"\\u0000"}}', 'NUL'],
  ['holds half a surrogate', '{"email":"a@example.com","name":"\\ud800"}', 'surrogate'],
  ['has a time of the year 1', '{"email":"a@example.com","created_at":"0001-01-01T00:00:00Z"}', 'created_at'],
  ['has a phone of letters', '{"phone":"+49 CALL"}', 'phone is not'],
  ['has a bcrypt hash of cost 31', { password_hash: `$2b$31$${'a'.repeat(53)}` }, 'too much work'],
  ['has an Argon2 hash of 4 GB', { password_hash: BOMB }, 'too much work'],
  [
    'has 10^9 iterations',
    { password_hash: '$pbkdf2-sha256$i=1000000000$c2FsdA==$aGFzaA==' },
    'too much work',
  ],
  ['has a plain password', { password_hash: 'secret' }, 'unknown form'],
  ['has a password, but nothing to sign in with', { email: null, password_hash: HASH }, 'needs an email'],
  ['has nothing at all', '{}', 'needs an email'],
  ['has too much app_metadata', { app_metadata: { a: 'x'.repeat(1_100) } }, 'app_metadata'],
  ['has too many values', { user_metadata: { a: Array(30_000).fill(0) } }, 'values'],
  ['is too long', `{"email":"${'x'.repeat(1_400_000)}"}`, 'longer than'],
  [
    'has an identity with too long a subject',
    { identities: [{ provider: 'google', id: 'x'.repeat(300) }] },
    'id is longer',
  ],
  ['has markup as the name of a provider', { identities: [{ provider: '<b>', id: '1' }] }, 'provider'],
  [
    'is nested too deeply',
    `{"email":"a@example.com","user_metadata":${'{"a":'.repeat(900)}1${'}'.repeat(900)}}`,
    'nested',
  ],
])('refuses a line that %s, and stores the others', async (_what, line, message) => {
  const [before, after] = [address(), address()];
  const text =
    typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify({ email: address(), ...line });
  const body = Buffer.concat(
    [lines({ email: before }), text, '\n', lines({ email: after })].map((one) => Buffer.from(one)),
  );
  const { status, body: report } = await send(body as never);
  expect([status, report.created, report.failed]).toEqual([200, 2, 1]);
  expect(report.errors).toEqual([{ line: 2, message: expect.stringContaining(message) }]);
});

it('finds the rows that the database refuses, in a batch of many', async () => {
  await project.sql(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.name = 'refused' then raise 'not you'; end if; return new; end $$;
    create trigger refuse before insert on auth.users for each row execute function refuse()`);
  const users = Array.from({ length: 700 }, (_one, n) => ({
    email: address(),
    name: [7, 240, 673].includes(n) ? 'refused' : 'in',
  }));
  const { body } = await send(lines(...users));
  expect(body).toMatchObject({ created: 697, failed: 3, skipped: 0 });
  expect(body.errors.map(({ line }: { line: number }) => line)).toEqual([8, 241, 674]);
  expect(body.errors[0].message).toBe('not you');
  await project.sql('drop trigger refuse on auth.users');
});

it('stops at a row that takes too long, and keeps the rows before it', async () => {
  await project.sql(`
    create function hang() returns trigger language plpgsql as $$ begin
      if new.name = 'slow' then raise sqlstate '57014'; end if; return new; end $$;
    create trigger hang before insert on auth.users for each row execute function hang()`);
  const [before, after] = [address(), address()];
  const body = lines({ email: before }, { email: address(), name: 'slow' }, { email: after });
  expect((await send(body)).status).toBeGreaterThanOrEqual(500);
  await project.sql('drop trigger hang on auth.users');
  expect((await send(body)).body).toMatchObject({ created: 2, skipped: 1 });
});

it('counts duplicates within a body once, whichever value they share', async () => {
  const [id, email] = [randomUUID(), address()];
  const { body } = await send(
    lines({ id, email }, { id, email: address() }, { email: email.toUpperCase() }, { email: address() }),
  );
  expect(body).toMatchObject({ users: 4, created: 2, skipped: 2, failed: 0 });
});

it('updates existing users on request, and ends their sessions if the password changes', async () => {
  const user = await project.signUp(address(), 'the old password');
  const taken = await project.signUp();
  const line = { email: user.email, password_hash: HASH, name: 'New', user_metadata: { plan: 'pro' } };
  expect((await send(lines(line))).body).toMatchObject({ created: 0, updated: 0, skipped: 1 });
  expect(await signIn(user.email)).toBe(401);
  const { body } = await send(
    lines(line, { id: user.id, email: taken.email }, { email: address() }),
    '?existing=update',
  );
  expect(body).toMatchObject({ created: 1, updated: 1, skipped: 1, failed: 0 });
  expect(await stored(user.id)).toMatchObject({ name: 'New', data: { plan: 'pro' }, email: user.email });
  expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
  expect(await signIn(user.email)).toBe(200);
  const clash = await send(lines({ id: user.id, email: taken.email }), '?existing=update');
  expect(clash.body).toMatchObject({ updated: 0, failed: 1 });
});

it('removes the access of a squatter who signed up with the address of an imported user', async () => {
  const squatter = await project.signUp(address(), 'of the squatter');
  await project.sql(`insert into auth.identities (id, user_id, provider, issuer, subject, data, created_at, updated_at)
    values (gen_random_uuid(), '${squatter.id}', 'google', 'https://accounts.google.com', 'squatter', '{}', now(), now())`);
  const proved = { email: squatter.email, email_confirmed_at: '2024-01-01T00:00:00Z' };
  expect((await send(lines(proved), '?existing=update')).body).toMatchObject({ updated: 1 });
  expect((await squatter.http.get(`${project.auth}/user`)).status).toBe(401);
  expect(await signIn(squatter.email, 'of the squatter')).toBe(401);
  expect(await project.sql(`select from auth.identities where user_id = '${squatter.id}'`)).toEqual([]);
});

it('refuses invalid callers, queries, bodies and projects', async () => {
  expect((await send('', '', 'nowhere')).status).toBe(404);
  expect((await send('', '?existing=all')).status).toBe(400);
  expect((await send('')).body).toMatchObject({ users: 0 });
  const path = `${plinth.baseUrl}/admin/v1/projects/${project.id}/users/import`;
  const byKey = { method: 'POST', headers: { authorization: `Bearer ${project.serviceKey}` }, body: '{}' };
  expect((await fetch(path, byKey)).status).toBe(401);
  const large = await plinth.admin.post(path.slice(plinth.baseUrl.length), 'x'.repeat(65 * 1024 * 1024));
  expect(large.status).toBe(413);
});

describe('plinth users import', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-users-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function run(
    name: string,
    text: string,
    ...args: string[]
    // oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
  ): Promise<{ code: number; out: any; err: string }> {
    writeFileSync(join(folder, name), text);
    let [out, err] = ['', ''];
    const environment = cliEnvironment({
      connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
      out: (more) => void (out += more),
      err: (more) => void (err += more),
    });
    const code = await runCli(
      [
        'users',
        'import',
        project.slug,
        join(folder, name),
        ...args.map((one) => one.replace('./', `${folder}/`)),
        '--json',
      ],
      environment,
    );
    return { code, out: JSON.parse(out), err };
  }

  it('reads CSV of Supabase', async () => {
    const [id, email] = [randomUUID(), address()];
    const meta = '"{""name"": ""Ada, the first""}"';
    const csv = `id,email,encrypted_password,email_confirmed_at,raw_user_meta_data,raw_app_meta_data,banned_until,deleted_at,created_at
${id},${email},${HASH},2024-01-01 10:00:00.5+00,${meta},"{""provider"": ""email"", ""providers"": [""email""], ""role"": ""x""}",,,2023-05-06 07:08:09.123456+00
${randomUUID()},${address()},${HASH},,,,NULL,2024-01-01 10:00:00+00,2024-01-01 10:00:00+00
`;
    const { code, out } = await run('users.csv', csv, '--from', 'supabase');
    expect([code, out]).toMatchObject([0, { users: 1, created: 1 }]);
    expect(await stored(id)).toMatchObject({
      name: 'Ada, the first',
      email_verified_at: '2024-01-01T10:00:00.5+00:00',
      created_at: '2023-05-06T07:08:09.123+00:00',
      app_data: { provider: 'email', providers: ['email'], role: 'x' },
    });
    expect(await signIn(email)).toBe(200);
  });

  it('reads the export of Firebase with its hash parameters, and skips users that were already imported', async () => {
    const email = address();
    const user = {
      localId: 'f1',
      email,
      emailVerified: true,
      displayName: 'Ada',
      createdAt: '1700000000000',
      passwordHash:
        'lSrfV15cpx95_sZS2W9c9Kp6i_LVgQNDNC_qzrCnh1SAyZvqmZqAjTdn3aoItz-VHjoZilo78198JAdRuid5lQ==',
      salt: '42xEC+ixf3L2lw==',
      customAttributes: '{"role":"editor"}',
      providerUserInfo: [
        { providerId: 'google.com', rawId: 'g1', email },
        { providerId: 'password', rawId: email },
      ],
    };
    const phone = { localId: 'f2', phoneNumber: '+15550100123', createdAt: '1700000000000', disabled: true };
    writeFileSync(
      join(folder, 'hash.txt'),
      `hash_config {\n  algorithm: SCRYPT,\n  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,\n  base64_salt_separator: Bw==,\n  rounds: 8,\n  mem_cost: 14,\n}\n`,
    );
    const args = ['--from', 'firebase', '--firebase-hash', './hash.txt'];
    const text = JSON.stringify({ users: [user, phone, 7] }, null, 2);
    const first = await run('firebase.json', text, ...args);
    expect([first.code, first.out]).toMatchObject([1, { users: 3, created: 2, failed: 1, identities: 1 }]);
    expect(first.out.errors).toEqual([{ line: 3, message: 'The line is not a JSON object' }]);
    expect((await run('firebase.json', text, ...args)).out).toMatchObject({ created: 0, skipped: 2 });
    expect(await signIn(email, 'user1password')).toBe(200);
    // Python computes this id as uuid.uuid5(uuid.NAMESPACE_URL, 'firebase:f1').
    expect((await stored('6879d3b3-4f2c-5ed6-9cc5-60fb67590df6')).email).toBe(email);
    const [disabled] = await project.sql(
      `select banned_until > now() as banned from auth.users where phone = '15550100123'`,
    );
    expect(disabled).toEqual({ banned: true });
  });

  it('reads the user export of Auth0, and its export of passwords', async () => {
    const email = address();
    const user = {
      user_id: 'auth0|507f1f77bcf86cd799439011',
      email,
      email_verified: true,
      created_at: '2023-01-01T00:00:00.000Z',
      name: 'Ada',
      blocked: false,
      identities: [
        {
          provider: 'auth0',
          user_id: '507f1f77bcf86cd799439011',
          connection: 'Username-Password-Authentication',
        },
        { provider: 'google-oauth2', user_id: 'g-auth0', connection: 'google-oauth2' },
        { provider: 'github', user_id: 4711, connection: 'github' },
      ],
    };
    const hash = { _id: { $oid: '507f1f77bcf86cd799439011' }, email, passwordHash: HASH };
    writeFileSync(join(folder, 'passwords.json'), lines(hash));
    const bulk = { email: address(), custom_password_hash: { algorithm: 'bcrypt', hash: { value: HASH } } };
    const { code, out } = await run(
      'auth0.jsonl',
      lines(user, bulk),
      '--from',
      'auth0',
      '--passwords',
      './passwords.json',
    );
    expect([code, out]).toMatchObject([0, { created: 2, identities: 2, unknown_providers: [] }]);
    expect([await signIn(email), await signIn(bulk.email)]).toEqual([200, 200]);
  });

  it('reads a realm of Keycloak, with its hashes of PBKDF2 and Argon2', async () => {
    const salt = randomBytes(16);
    const pbkdf2 = pbkdf2Sync(PASSWORD, salt, 27_500, 64, 'sha256').toString('base64');
    const hash = await argon2id({
      password: PASSWORD,
      salt,
      memorySize: 1_024,
      iterations: 2,
      parallelism: 1,
      hashLength: 32,
    });
    const credential = (value: string, data: object): object[] => [
      {
        type: 'password',
        secretData: JSON.stringify({ value, salt: salt.toString('base64'), additionalParameters: {} }),
        credentialData: JSON.stringify(data),
      },
    ];
    const parameters = {
      hashLength: ['32'],
      memory: ['1024'],
      type: ['id'],
      version: ['1.3'],
      parallelism: ['1'],
    };
    const base = { enabled: true, emailVerified: true, createdTimestamp: 1_700_000_000_000 };
    const users = [
      {
        ...base,
        id: randomUUID(),
        username: 'ada',
        email: address(),
        firstName: 'Ada',
        lastName: 'Lovelace',
        attributes: { department: ['maths'] },
        realmRoles: ['admin'],
        credentials: credential(pbkdf2, {
          hashIterations: 27_500,
          algorithm: 'pbkdf2-sha256',
          additionalParameters: {},
        }),
      },
      {
        ...base,
        id: randomUUID(),
        username: 'bob',
        email: address(),
        credentials: credential(Buffer.from(hash, 'hex').toString('base64'), {
          hashIterations: 2,
          algorithm: 'argon2',
          additionalParameters: parameters,
        }),
      },
      {
        ...base,
        id: randomUUID(),
        username: 'eve',
        email: address(),
        credentials: credential(pbkdf2, { hashIterations: 1_000_000_000, algorithm: 'pbkdf2-sha256' }),
      },
    ];
    const { code, out } = await run(
      'realm.json',
      JSON.stringify({ realm: 'acme', users }),
      '--from',
      'keycloak',
    );
    expect([code, out]).toMatchObject([1, { created: 2, failed: 1 }]);
    expect([await signIn(users[0]!.email), await signIn(users[1]!.email)]).toEqual([200, 200]);
    expect(await stored(users[0]!.id)).toMatchObject({
      name: 'Ada Lovelace',
      data: { department: 'maths', username: 'ada' },
      app_data: { roles: ['admin'] },
    });
  });

  it('sends thousands of users in parts, and names the row of a fault', async () => {
    const many = Array.from({ length: 6_000 }, () => ({ email: address(), password_hash: HASH }));
    many[5_500]!.email = 'nobody';
    const { code, out } = await run('many.jsonl', lines(...many));
    expect([code, out]).toMatchObject([1, { users: 6_000, created: 5_999, failed: 1 }]);
    expect(out.errors).toEqual([{ line: 5_501, message: 'email is not an address' }]);
  });
});
