/** The pages that mails link to, in a real browser: from the mail to the new password. */
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { pressButton } from '../../support/gotrue';
import { HttpAnswer } from '../../support/http-client';
import { linkIn, MailServer, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

const ORIGIN = 'http://plinth.test';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url, PUBLIC_URL: ORIGIN } });
  project = await plinth.createProject({
    name: 'Acme & <b>Sons</b>',
    settings: { refuse_common_passwords: true },
  });
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const guest = () => project.client(project.anonKey, null);
const signInStatus = async (email: string, password: string) =>
  (await guest().post(`${project.auth}/login`, { email, password })).status;

async function resetLink(user: TestUser): Promise<string> {
  await guest().post(`${project.auth}/reset-password`, { email: user.email });
  return linkIn(await smtp.mailTo(user.email)).href;
}

const browsers = [
  ['with JavaScript', true],
  ['with JavaScript turned off', false],
] as const;

(hasBrowser ? describe : describe.skip).each(browsers)('in a browser %s', (_how, javaScript) => {
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    browser = await TestBrowser.start({ hosts: { 'plinth.test': new URL(plinth.baseUrl).host }, javaScript });
    page = await browser.newPage();
  }, BROWSER_START_MS);
  beforeEach(() => browser.forget());
  // Pages load nothing from other hosts and do not violate their own Content-Security-Policy.
  afterEach(() => {
    expect(browser.observed.requests.filter((line) => !line.includes(` ${ORIGIN}/v1/auth/`))).toEqual([]);
    const isAnswer = (line: string): boolean => /status of (400|401)/.test(line);
    expect(browser.observed.complaints.filter((line) => !isAnswer(line))).toEqual([]);
  });
  afterAll(() => browser.stop());

  /** Clicks the button, and waits for the page that answers the form. */
  const send = async (): Promise<void> => {
    await Promise.all([page.waitForEvent('load'), page.getByRole('button').click()]);
  };
  const submit = async (password: string): Promise<void> => {
    await page.getByLabel(/password/i).fill(password);
    await send();
  };
  const message = () => page.locator('#message').textContent();

  it('the mailed link sets a new password, which then signs in', async () => {
    const user = await project.signUp();
    await page.goto(await resetLink(user));
    expect(await page.title()).toBe('Choose a new password');
    expect(await page.locator('main').textContent()).toContain('Acme & <b>Sons</b>');
    expect(await signInStatus(user.email, user.password)).toBe(200);
    await submit('a new password');
    expect(await message()).toMatch(/has been changed/);
    expect(await page.locator('form').count()).toBe(0);
    expect(page.url()).toBe(`${ORIGIN}${project.auth}/reset`);
    expect(await signInStatus(user.email, 'a new password')).toBe(200);
    expect(await signInStatus(user.email, user.password)).toBe(401);
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
    expect(browser.observed.requests).toHaveLength(2);
  });

  it('a refused password is asked for again, and the token stays valid', async () => {
    const user = await project.signUp();
    await page.goto(await resetLink(user));
    // Long enough for the browser's check, but not for the server's.
    await submit('password123');
    expect(await message()).toMatch(/most common/);
    await submit('ü'.repeat(40));
    expect(await message()).toMatch(/too long/);
    await submit('something better');
    expect(await message()).toMatch(/has been changed/);
    expect(await signInStatus(user.email, 'something better')).toBe(200);
  });

  it('a short password is not sent', async () => {
    const user = await project.signUp();
    await page.goto(await resetLink(user));
    browser.forget();
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button').click();
    expect(browser.observed.requests).toEqual([]);
  });

  it('a used token is reported, and the password stays', async () => {
    const user = await project.signUp();
    const link = await resetLink(user);
    await page.goto(link);
    await submit('the first one');
    await page.goto(link);
    await submit('the second one');
    expect(await message()).toMatch(/no longer valid/);
    expect(await signInStatus(user.email, 'the first one')).toBe(200);
  });

  it.each(['', '?token=', '?token=nonsense', '?token=%3Cscript%3Ealert(1)%3C/script%3E', '?token=a&token=b'])(
    'a link with %j is reported as invalid',
    async (query) => {
      await page.goto(`${ORIGIN}${project.auth}/reset${query}`);
      await submit('a new password');
      expect(await message()).toMatch(/not valid/);
    },
  );

  it('the verification page asks for a password and confirms the address', async () => {
    const own = await plinth.createProject({ settings: { email_verification_required: true } });
    const email = `verify-${javaScript}@example.com`;
    const credentials = { email, password: 'correct horse' };
    const client = own.client(own.anonKey, null);
    await client.post(`${own.auth}/signup`, credentials);
    expect((await client.post(`${own.auth}/login`, credentials)).status).toBe(403);
    const link = linkIn(await smtp.mailTo(email)).href;
    await page.goto(link);
    expect((await client.post(`${own.auth}/login`, credentials)).status).toBe(403);
    await page.getByRole('button', { name: 'Confirm' }).waitFor();
    await submit(credentials.password);
    expect(await message()).toMatch(/has been confirmed/);
    expect((await client.post(`${own.auth}/login`, credentials)).status).toBe(200);
    await page.goto(link);
    await send();
    expect(await message()).toMatch(/no longer valid/);
  });

  it(`the token is ${javaScript ? 'gone from the address bar at once' : 'gone from the address bar once it is sent'}`, async () => {
    const user = await project.signUp();
    const link = await resetLink(user);
    await page.goto(link);
    expect(page.url()).toBe(javaScript ? `${ORIGIN}${project.auth}/reset` : link);
    await submit('a new password');
    expect(page.url()).not.toContain('token');
  });
});

describe('the pages over HTTP', () => {
  const form = (
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
    base = project.auth,
  ) =>
    plinth.http.post(`${base}/${path}`, new URLSearchParams(fields).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });

  it("use the browser's language, or the project's", async () => {
    const german = await plinth.createProject({ settings: { locale: 'de' } });
    const titleOf = async (own: TestProject, languages: string) =>
      /<title>(.*)<\/title>/.exec(
        (await plinth.http.get(`${own.auth}/reset`, { headers: { 'accept-language': languages } })).text,
      )?.[1];
    expect(await titleOf(project, 'fr-CH, en;q=0.5')).toBe('Choisir un nouveau mot de passe');
    expect(await titleOf(project, 'it')).toBe('Scelga una nuova password');
    expect(await titleOf(german, '')).toBe('Neues Passwort festlegen');
    expect(await titleOf(german, 'es')).toBe('Elija una contraseña nueva');
  });

  it('do not use up the token for GET, HEAD or an incomplete form', async () => {
    const user = await project.signUp();
    const token = new URL(await resetLink(user)).searchParams.get('token') as string;
    const path = `${project.auth}/reset?token=${token}`;
    expect((await plinth.http.get(path)).status).toBe(200);
    expect((await plinth.http.send('HEAD', path)).status).toBe(200);
    expect((await form('reset', { token })).status).toBe(400);
    expect((await form('reset', { password: 'a new password' })).status).toBe(401);
    expect((await form('reset', { token, password: 'a new password' })).status).toBe(200);
    expect((await form('reset', { token, password: 'a new password' })).status).toBe(401);
    expect(await signInStatus(user.email, 'a new password')).toBe(200);
  });

  it('end the password that somebody else chose at sign-up, once the address is confirmed', async () => {
    const own = await plinth.createProject({
      settings: { email_verification_required: true, site_url: ORIGIN },
    });
    const client = own.client(own.anonKey, null);
    const gotrue = `/p/${own.slug}/auth/v1`;
    const statuses = async (email: string): Promise<number[]> => {
      const login = (password: string) => client.post(`${own.auth}/login`, { email, password });
      return [(await login('the creator')).status, (await login('the owner')).status];
    };
    const ways: [path: string, confirm: (link: URL, password: string) => Promise<HttpAnswer>][] = [
      [
        `${own.auth}/signup`,
        (link, password) =>
          form('verify', { token: link.searchParams.get('token') ?? '', password }, {}, own.auth),
      ],
      [
        `${own.auth}/signup`,
        (link, password) =>
          client.post(`${own.auth}/verify-email`, { token: link.searchParams.get('token'), password }),
      ],
      [
        `${gotrue}/signup`,
        (link, password) =>
          pressButton(own, { url: link, token: link.searchParams.get('token') ?? '' }, { password }),
      ],
    ];
    for (const [way, [path, confirm]] of ways.entries()) {
      const email = `taken-${way}@example.com`;
      expect((await client.post(path, { email, password: 'the creator' })).status).toBeLessThan(300);
      const link = linkIn(await smtp.mailTo(email));
      const page = await plinth.http.unchecked().get(`${link.pathname}${link.search}`);
      expect([page.status, page.text.includes('name="password"')]).toEqual([200, true]);
      expect((await confirm(link, 'short')).status).toBe(400);
      expect((await confirm(link, 'the owner')).status).toBeLessThan(400);
      expect(await statuses(email)).toEqual([401, 200]);
    }
    // A confirmation without a password keeps the creator's password only if the client is that of the sign-up.
    for (const [agent, status] of [
      ['owner', 401],
      ['creator', 200],
    ] as const) {
      for (const path of [`${own.auth}/signup`, `${gotrue}/signup`]) {
        const email = `${agent}-${path.length}@example.com`;
        const creator = client.with({ 'user-agent': 'creator' });
        expect((await creator.post(path, { email, password: 'the creator' })).status).toBeLessThan(300);
        const token = linkIn(await smtp.mailTo(email)).searchParams.get('token');
        const [confirm, body] = path.startsWith(gotrue)
          ? [`${gotrue}/verify`, { type: 'signup', token_hash: token }]
          : [`${own.auth}/verify-email`, { token }];
        const confirmed = await client.with({ 'user-agent': agent }).post(confirm, body);
        expect([confirmed.status, ...(await statuses(email))]).toEqual([200, status, 401]);
      }
    }
  });

  it('accept form bodies only: 415, 413, 404', async () => {
    expect((await plinth.http.post(`${project.auth}/reset`, { token: 'x' })).status).toBe(415);
    expect((await form('reset', { token: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await plinth.http.post('/v1/auth/nosuchproject/reset', 'token=x')).status).not.toBe(200);
  });

  it('escape submitted values', async () => {
    const hostile = '"><script>evil()</script>';
    for (const page of ['reset', 'verify']) {
      const { text } = await form(page, { token: hostile, password: 'x' }, { 'accept-language': hostile });
      expect(text).not.toContain('evil');
    }
  });
});

describe('a page that refuses before the form is processed', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'de' };
  let strict: TestPlinth;
  let own: TestProject;
  beforeAll(async () => {
    strict = await TestPlinth.start({
      env: { AUTH_REQUESTS_PER_MINUTE: '10' },
    });
    own = await strict.createProject();
  });
  afterAll(() => strict.stop());

  const send = (path: string, headers: Record<string, string>, text = 'token=x&password=long+enough') =>
    strict.http.post(path, text, {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });

  it.each(['reset', 'verify'])(
    'is HTML for a browser and JSON for other clients: 429 of /%s',
    async (page) => {
      const answers: HttpAnswer[] = [];
      for (let n = 0; n < 14; n += 1) answers.push(await send(`${own.auth}/${page}`, BROWSER));
      expect(answers.slice(10).map(({ status }) => status)).toEqual([429, 429, 429, 429]);
      // Wrong tokens delay the address first; then the request limit applies.
      for (const { status, headers, text } of answers.filter((answer) => answer.status !== 401)) {
        expect([status, headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        expect(headers.get('content-security-policy')).toContain("default-src 'none'");
        expect(headers.get('referrer-policy')).toBe('no-referrer');
        expect(text).toContain('<html lang="de">');
        expect(text).toContain('Versuchen Sie es gleich noch einmal');
      }
      for (const headers of [{ accept: 'application/json' }, { accept: '*/*' }]) {
        expect(await send(`${own.auth}/${page}`, headers)).toMatchObject({
          status: 429,
          body: { detail: expect.any(String), status_code: 429 },
        });
      }
    },
  );

  it('has no form for an unknown project and echoes nothing', async () => {
    for (const page of ['reset', 'verify']) {
      const { status, text } = await strict.http.get(`/v1/auth/nobody/${page}?token=<evil>`, {
        headers: BROWSER,
      });
      expect(status).toBe(404);
      expect(text).toContain('Dieser Link ist ungültig');
      expect(text).not.toMatch(/<form|evil|nobody/);
    }
    const { headers } = await strict.http.get('/v1/auth/nobody/user', { headers: BROWSER });
    expect(headers.get('content-type')).toContain('application/json');
  });
});

(hasBrowser ? describe : describe.skip)("a project's own page", () => {
  it(
    "is the target of the mail's link, with the token",
    async () => {
      const own = await plinth.createProject({
        settings: { reset_redirect_url: `${ORIGIN}/my/page?from=mail` },
      });
      const user = await own.signUp();
      await own.client(own.anonKey, null).post(`${own.auth}/reset-password`, { email: user.email });
      const mail = await smtp.mailTo(user.email);
      const browser = await TestBrowser.start({ hosts: { 'plinth.test': new URL(plinth.baseUrl).host } });
      try {
        const page = await browser.newPage();
        await page.goto(linkIn(mail).href);
        expect(page.url()).toBe(`${ORIGIN}/my/page?from=mail&token=${tokenIn(mail)}`);
        expect(browser.observed.requests).toEqual([`GET ${page.url()}`]);
      } finally {
        await browser.stop();
      }
    },
    BROWSER_START_MS,
  );
});
