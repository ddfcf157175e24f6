/** The command line for staff: signing in, tokens, invitations, roles. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOTP } from 'otpauth';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { savedLogins } from '../../../src/config/saved-logins';
import { cliEnvironment } from '../../support/cli-environment';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { newPerson, signIn, STAFF_PASSWORD, TestPerson } from '../../support/staff';

let plinth: TestPlinth;
let folder: string;
let owner: TestPerson;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  folder = mkdtempSync(join(tmpdir(), 'plinth-login-'));
  owner = await newPerson(plinth, 'owner');
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await plinth.stop();
});

const logins = (): ReturnType<typeof savedLogins> => savedLogins({ XDG_CONFIG_HOME: folder });

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `plinth` with the token of `plinth login`, or with the admin key if there is none. */
async function run(args: string[], answers: string[] = []): Promise<Outcome> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => {
        const token = logins().find(plinth.baseUrl)?.token;
        return new AdminClient([plinth.baseUrl], token ?? ADMIN_KEY, token === undefined ? 'key' : 'token');
      },
      signIn: {
        server: () => plinth.baseUrl,
        logins,
        ask: async () => answers.shift() ?? '',
      },
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

async function json(args: string[]): Promise<Record<string, unknown>> {
  const { out, code, err } = await run([...args, '--json']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Record<string, unknown>;
}

it('signs in with a password and a code, keeps a token in a file that only its owner may read, and signs out', async () => {
  expect((await json(['whoami'])).person).toMatchObject({ id: null, role: 'owner' });
  const wrong = await run(['login'], [owner.email, 'wrong password']);
  expect([wrong.code, wrong.err]).toEqual([1, 'The email or the password is wrong\n']);
  const { body } = await owner.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD });
  const secret = new URL(body.uri).searchParams.get('secret') ?? '';
  const code = (): string => new TOTP({ secret }).generate({ timestamp: plinth.clock.now() });
  const confirmed = await owner.http.put('/admin/v1/session/factor', { code: code() });
  expect(confirmed.status).toBe(200);
  const recovery = (confirmed.body as { recovery_codes: string[] }).recovery_codes[0] ?? '';

  const signedIn = await run(['login', '--days', '2'], [owner.email, STAFF_PASSWORD, recovery]);
  expect([signedIn.code, signedIn.err]).toEqual([0, '']);
  const { file } = logins();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('plt_');
  expect(text).not.toContain(STAFF_PASSWORD);
  expect(signedIn.out).not.toContain('plt_');
  expect((await json(['whoami'])).person).toMatchObject({ email: owner.email, role: 'owner' });

  const token = logins().find(plinth.baseUrl)?.token ?? '';
  expect((await run(['logout'])).code).toBe(0);
  expect(logins().find(plinth.baseUrl)).toBeNull();
  const http = plinth.http.with({ authorization: `Bearer ${token}` });
  expect((await http.get('/admin/v1/session')).status).toBe(401);
  expect((await run(['logout'])).code).toBe(3);
});

it('invites staff, gives them roles, disables and deletes them', async () => {
  await run(['project', 'create', 'Acme']);
  const invited = await json(['people', 'invite', 'grace@example.com', '--project', 'acme:viewer']);
  const answer = await plinth.http.post('/admin/v1/invitations/accept', {
    token: String(invited.link).split('#')[1],
    name: 'Grace',
    password: STAFF_PASSWORD,
  });
  expect(answer.body.projects).toMatchObject([{ slug: 'acme', role: 'viewer' }]);
  expect((await run(['project', 'grant', 'acme', 'grace@example.com', '--role', 'admin'])).code).toBe(0);
  expect((await run(['project', 'people', 'acme'])).out).toMatch(/^grace@example.com +Grace +admin/m);
  expect((await run(['project', 'revoke', 'acme', 'grace@example.com'])).code).toBe(0);
  expect((await run(['project', 'people', 'acme'])).out).not.toContain('grace');
  expect(await json(['people', 'update', 'grace@example.com', '--role', 'auditor'])).toMatchObject({
    role: 'auditor',
  });
  expect((await json(['people', 'update', 'grace@example.com', '--disable'])).disabled_at).not.toBeNull();
  expect((await signIn(plinth, 'grace@example.com')).status).toBe(401);
  expect((await run(['people', 'delete', 'grace@example.com'])).code).toBe(0);
  expect((await run(['people', 'list'])).out).not.toContain('grace');
  const other = await json(['people', 'invite', 'eve@example.com', '--role', 'auditor']);
  expect((await run(['people', 'withdraw', String(other.id)])).code).toBe(0);
  expect((await run(['people', 'invitations'])).out).toBe('(no rows)\n');
  expect((await run(['people', 'invite', 'eve@example.com', '--project', 'acme:owner'])).code).toBe(2);
});

it('creates, lists and deletes tokens of the staff member', async () => {
  const person = await newPerson(plinth, 'operator');
  expect((await run(['token', 'list'])).err).toContain('PLATFORM_ADMIN_KEY belongs to none');
  await run(['login', '--email', person.email], [STAFF_PASSWORD]);
  const made = await json([
    'token',
    'create',
    'CI',
    '--scope',
    'read',
    'sql',
    '--project',
    'acme',
    '--days',
    '7',
  ]);
  expect(made).toMatchObject({ token: expect.stringMatching(/^plt_/), scopes: ['read', 'sql'] });
  expect((await run(['token', 'list'])).out).toMatch(/ CI +\["read","sql"\]/);
  expect((await run(['token', 'delete', String(made.id)])).code).toBe(0);
  expect((await run(['token', 'list'])).out).not.toContain(' CI ');
  await run(['logout']);
  expect((await run(['setup-link'])).err).toContain('has an owner');
});
