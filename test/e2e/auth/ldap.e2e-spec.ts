/** Sign-in at a real directory (OpenLDAP), by StartTLS and LDAPS, and attacks on it. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { decode } from 'jsonwebtoken';
import { gotrue, guestOf } from '../../support/gotrue';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { BASE_DN, BIND_DN, BIND_PASSWORD, hasSlapd, SlapdServer } from '../../support/slapd-server';
import type { TestProject } from '../../support/test-project';

const PASSWORD = 'correct horse';
const PEOPLE = ['ada', 'bob', 'cyd', 'dan', 'eve'].map((uid) => ({
  uid,
  mail: `${uid}@example.com`,
  password: PASSWORD,
}));
const UNUSUAL = [
  { uid: 'tim', mail: 'tim@example.com', password: PASSWORD },
  { uid: 'fay', mail: 'fay@example.com' },
  ...['gus', 'hal', 'ian'].map((uid) => ({ uid, mail: 'team@example.com', password: PASSWORD })),
];

(hasSlapd ? describe : describe.skip)('sign-in with LDAP (needs slapd)', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  let slapd: SlapdServer;

  beforeAll(async () => {
    slapd = await SlapdServer.start([...PEOPLE, ...UNUSUAL], {
      staff: ['ada', 'bob', 'tim'],
      admins: ['ada'],
    });
    plinth = await TestPlinth.start({
      env: { AUTH_ALLOWED_HOSTS: '127.0.0.1', AUTH_REQUESTS_PER_MINUTE: '10000' },
    });
    project = await plinth.createProject({
      settings: { site_url: 'https://app.example.com', ldap: directory() },
    });
  });
  afterAll(async () => {
    await plinth.stop();
    await slapd.stop();
  });

  const directory = (change: object = {}): object => ({
    url: `ldaps://127.0.0.1:${slapd.ldapsPort}`,
    ca: slapd.ca,
    bind_dn: BIND_DN,
    bind_password: BIND_PASSWORD,
    base_dn: BASE_DN,
    group_filter: '(member={dn})',
    attribute_mapping: { keys: { title: { name: 'title' } } },
    domains: ['example.com'],
    ...change,
  });
  // Failures of the directory count as wrong guesses.
  beforeEach(() => plinth.clock.move(3_600));

  const path = (): string => `/admin/v1/projects/${project.id}`;
  async function set(change: object): Promise<void> {
    const answer = await plinth.admin.patch(path(), { settings: { ldap: directory(change) } });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  }
  const signIn = (login: string, password = PASSWORD): Promise<HttpAnswer> =>
    guestOf(project).post(`${project.auth}/ldap`, { login, password });
  const claimsOf = ({ body }: HttpAnswer) => decode(body.session.access_token) as Record<string, unknown>;

  it.each([
    ['LDAPS', () => `ldaps://127.0.0.1:${slapd.ldapsPort}`],
    ['StartTLS', () => `ldap://127.0.0.1:${slapd.ldapPort}`],
  ])('signs in by %s, and groups and attributes become claims', async (_name, url) => {
    await set({ url: url() });
    const answers = [await signIn('ada'), await signIn('ADA@example.com')];
    for (const answer of answers) {
      expect([answer.status, answer.body.user]).toEqual([
        200,
        expect.objectContaining({ email: 'ada@example.com', name: 'Name of ada' }),
      ]);
      expect(claimsOf(answer)).toMatchObject({
        amr: [{ method: 'ldap' }],
        app_metadata: { provider: 'ldap', custom_claims: { title: 'Engineer' } },
      });
      const { custom_claims: custom } = claimsOf(answer).app_metadata as {
        custom_claims: { groups: string[] };
      };
      expect(custom.groups.toSorted()).toEqual(['admins', 'staff']);
    }
    expect(answers[0]?.body.user.id).toBe(answers[1]?.body.user.id);
  });

  it("signs in through GoTrue's token path if the request names the provider", async () => {
    const token = (body: object) =>
      guestOf(project).post(`${gotrue(project)}/token?grant_type=password`, body);
    const answer = await token({ provider: 'ldap', email: 'bob', password: PASSWORD });
    expect([answer.status, answer.body.user.email]).toEqual([200, 'bob@example.com']);
    expect((await token({ email: 'bob@example.com', password: PASSWORD })).status).toBe(400);
    expect((await token({ provider: 'other', email: 'bob', password: PASSWORD })).status).toBe(400);
  });

  it('a test shows an administrator the claims, and creates no account', async () => {
    const attempt = (body: object, by = project.service) => by.post(`${project.auth}/admin/ldap/try`, body);
    const answer = await attempt({ login: 'tim', password: PASSWORD });
    expect([answer.status, answer.body.claims]).toEqual([
      200,
      expect.objectContaining({
        email: 'tim@example.com',
        custom_claims: { groups: ['staff'], title: 'Engineer' },
      }),
    ]);
    expect(await project.sql(`select from auth.users where email = 'tim@example.com'`)).toEqual([]);
    expect((await attempt({ login: 'tim', password: 'wrong' })).status).toBe(401);
    expect((await attempt({ login: 'tim', password: PASSWORD }, guestOf(project))).status).toBe(401);
  });

  it('joins an account only if both sides verified the address', async () => {
    await guestOf(project).post(`${project.auth}/signup`, {
      email: 'cyd@example.com',
      password: 'of a stranger',
    });
    expect((await signIn('cyd')).status).toBe(422);
    await set({ domains: [] });
    const user = { email: 'dan@example.com', password: 'another one', email_verified: true };
    await project.service.post(`${project.auth}/admin/users`, user);
    expect((await signIn('dan')).status).toBe(422);
    await set({});
    expect((await signIn('dan')).status).toBe(200);
  });

  it('answers wrong passwords, unknown logins, empty passwords and filters in logins alike', async () => {
    const wrong = await signIn('ada', 'wrong');
    expect([wrong.status, wrong.body.detail]).toEqual([401, expect.any(String)]);
    for (const [login, password] of [
      ['nobody', PASSWORD],
      ['*', PASSWORD],
      ['ad*', PASSWORD],
      ['ada)(uid=*', PASSWORD],
      ['*)(|(uid=*', PASSWORD],
      ['ada\\2a', PASSWORD],
      ['ada,ou=people', PASSWORD],
      ['uid=ada,ou=people,dc=example,dc=com', PASSWORD],
      ['ada', `${PASSWORD} `],
      ['ada', 'x'.repeat(500)],
      ['\u00e4da', PASSWORD],
      // The first is an entry without a password, the second the address of three entries.
      ['fay', PASSWORD],
      ['team@example.com', PASSWORD],
    ])
      expect([login, (await signIn(String(login), password)).body]).toEqual([login, wrong.body]);
    for (const body of [
      { login: 'ada', password: '' },
      { login: '', password: PASSWORD },
      { login: 'ada' },
      {},
    ])
      expect((await guestOf(project).post(`${project.auth}/ldap`, body)).status).toBe(400);
    const empty = { provider: 'ldap', email: 'ada', password: '' };
    const byToken = await guestOf(project).post(`${gotrue(project)}/token?grant_type=password`, empty);
    expect(byToken.status).toBe(400);
  });

  it('slows down guesses, as for passwords', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 20; attempt += 1)
      statuses.push((await signIn('eve', `wrong ${attempt}`)).status);
    expect(statuses).toContain(429);
    expect((await signIn('eve')).status).toBe(429);
    plinth.clock.move(3_600);
    expect((await signIn('eve')).status).toBe(200);
  });

  it('slows down guesses for an entry, whichever login finds it', async () => {
    const statuses: number[] = [];
    // Trailing spaces are ignored.
    for (let attempt = 0; attempt < 6; attempt += 1)
      for (const login of ['eve', 'eve@example.com'])
        statuses.push((await signIn(login + ' '.repeat(attempt), 'wrong')).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
    expect((await signIn('eve@example.com')).status).toBe(429);
    plinth.clock.move(3_600);
    expect((await signIn('eve')).status).toBe(200);
  });

  it('delays logins that differ in spaces and case alike, whether there is an entry or not', async () => {
    const statuses: number[][] = [];
    for (const login of ['eve', 'nobody-here']) {
      plinth.clock.move(3_600);
      const answers: number[] = [];
      for (let attempt = 0; attempt < 12; attempt += 1)
        answers.push((await signIn(attempt % 2 === 0 ? login : ` ${login.toUpperCase()}`, 'wrong')).status);
      statuses.push(answers);
    }
    expect(statuses[0]).toContain(429);
    expect(statuses[1]).toEqual(statuses[0]);
  });

  it('refuses a login that finds two entries', async () => {
    await set({ user_filter: '(|(uid={login})(objectClass=inetOrgPerson))' });
    expect((await signIn('ada')).status).toBe(401);
    await set({});
  });

  it.each([
    ['a certificate of a stranger', { ca: undefined }],
    ['a wrong password of the application', { bind_password: 'wrong' }],
    ['a base that does not exist', { base_dn: 'dc=elsewhere' }],
    ['nothing at the address', { url: 'ldaps://127.0.0.1:9' }],
    ['a private address', { url: 'ldaps://10.0.0.1' }],
    ['a name of this machine', { url: 'ldaps://localhost' }],
    ['an invalid filter', { user_filter: '(uid={login}))(cn=x)' }],
    ['an id attribute that entries do not have', { id_attribute: 'objectGUID' }],
  ])('answers 503 for %s', async (_what, change) => {
    await set(change);
    const answer = await signIn('ada');
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      503,
      expect.not.stringMatching(/127\.0|10\.0/),
    ]);
    await set({});
  });

  describe('a hostile server', () => {
    const sockets = new Set<Socket>();
    let server: Server | null = null;
    async function serve(answer: (socket: Socket) => void): Promise<void> {
      server = createServer((socket) => {
        sockets.add(socket.on('error', () => {}));
        answer(socket);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      await set({ url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}` });
    }
    afterEach(async () => {
      for (const socket of sockets) socket.destroy();
      server?.close();
      await set({});
    });
    const ACCEPTED = Buffer.from('300c02010178070a010004000400', 'hex');

    it.each<[string, (socket: Socket) => void]>([
      ['that hangs', () => {}],
      ['that closes', (socket) => socket.destroy()],
      ['that refuses StartTLS', (socket) => socket.write(Buffer.from('300c02010178070a010104000400', 'hex'))],
      [
        'that adds something before encryption',
        (socket) => socket.write(Buffer.concat([ACCEPTED, ACCEPTED])),
      ],
      ['that continues without encryption', (socket) => socket.write(ACCEPTED)],
      ['that never stops writing', (socket) => socket.write(Buffer.alloc(50_000_000, 0x30))],
      ['that speaks HTTP', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')],
    ])('%s is disconnected', async (_what, answer) => {
      await serve(answer);
      expect((await signIn('ada')).status).toBe(503);
    });
  });

  it('is refused if the project has no directory', async () => {
    const plain = await plinth.createProject();
    const answer = await guestOf(plain).post(`${plain.auth}/ldap`, { login: 'ada', password: PASSWORD });
    expect([answer.status, answer.body.detail]).toEqual([404, 'Sign-in with LDAP is turned off']);
  });

  it('never shows the password of the application, and requires it again for another address', async () => {
    const { body } = await plinth.admin.get(path());
    expect(body.settings.ldap).not.toHaveProperty('bind_password');
    const { bind_password: _removed, ...without } = directory() as Record<string, unknown>;
    const change = (ldap: object) => plinth.admin.unchecked().patch(path(), { settings: { ldap } });
    expect((await change(without)).status).toBe(200);
    expect((await signIn('ada')).status).toBe(200);
    expect((await change({ ...without, url: 'ldaps://elsewhere.example' })).status).toBe(400);
    for (const wrong of [
      { url: 'http://127.0.0.1' },
      { url: 'ldaps://user:secret@127.0.0.1' },
      { user_filter: '(uid=ada)' },
      { user_filter: 'uid={login}' },
      { id_attribute: 'a)(b' },
      { more: 'x' },
    ])
      expect([wrong, (await change({ ...directory(), ...wrong })).status]).toEqual([wrong, 400]);
  });
});
