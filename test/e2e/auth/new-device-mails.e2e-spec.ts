/** Mails about the first sign-in from a device (setting `new_device_mails`). */
import type { HttpClient } from '../../support/http-client';
import { eventually, MailServer, type ReceivedMail } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import type { TestProject, TestUser } from '../../support/test-project';

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
const NEWER = FIREFOX.replaceAll('140', '147');
const PHONE = 'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/150.0.0.0 Mobile Safari/537.36';
const HOSTILE = 'Click <a href="http://evil.example">here</a>';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({
    env: { SMTP_URL: smtp.url, TRUST_PROXY: '1', AUTH_REQUESTS_PER_MINUTE: '10000' },
  });
  project = await plinth.createProject({ name: 'Shop', settings: { new_device_mails: true } });
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const at = (agent: string, ip = '203.0.113.7', of = project): HttpClient =>
  of.client(of.anonKey, null).with({ 'user-agent': agent, 'x-forwarded-for': ip });

async function signUp(client: HttpClient, of = project): Promise<Pick<TestUser, 'email' | 'password'>> {
  const given = { email: `user-${Math.random()}@example.com`, password: 'correct horse' };
  expect((await client.post(`${of.auth}/signup`, given)).status).toBe(201);
  return given;
}

async function signIn(client: HttpClient, given: object, of = project): Promise<void> {
  expect((await client.post(`${of.auth}/login`, given)).status).toBe(200);
}

const mails = ({ email }: { email: string }): ReceivedMail[] => smtp.to(email);

const nth = (user: { email: string }, count: number): Promise<ReceivedMail> =>
  eventually(() => mails(user)[count - 1] ?? null);

it('are sent for another program or network, once, and not at sign-up', async () => {
  const user = await signUp(at(FIREFOX));
  await signIn(at(FIREFOX), user);
  await signIn(at(NEWER, '203.0.113.99'), user);
  await signIn(at(PHONE), user);
  const mail = await nth(user, 1);
  expect(mail.subject).toBe('A new sign-in to Shop');
  for (const text of [
    '203.0.113.7',
    'Chrome, Android',
    `${new Date(plinth.clock.now()).toISOString().slice(0, 10)}`,
  ])
    expect(mail.text).toContain(text);
  await signIn(at(PHONE, '203.0.113.40'), user);
  await signIn(at(FIREFOX, '2001:db8:1::7'), user);
  expect((await nth(user, 2)).text).toContain('2001:db8:1::7');
  await signIn(at(FIREFOX, '2001:db8:1::8'), user);
  // A server that listens on IPv6 sees IPv4 addresses in this form.
  await signIn(at(FIREFOX, '::ffff:198.51.100.7'), user);
  expect((await nth(user, 3)).text).toContain('198.51.100.7');
  await signIn(at(FIREFOX, '::ffff:192.0.2.7'), user);
  expect((await nth(user, 4)).text).toContain('192.0.2.7');
  await signIn(at(HOSTILE), user);
  expect((await nth(user, 5)).html).not.toContain('evil');
  // The later sign-ins sent no other mail.
  expect(mails(user)).toHaveLength(5);
});

it('are sent for only a few devices in a short time, while all sign-ins succeed', async () => {
  const user = await signUp(at(FIREFOX));
  for (let n = 0; n < 14; n += 1) await signIn(at(FIREFOX, `198.51.${n}.1`), user);
  const rows = await project.sql(
    `select count(*)::int as count from auth.outgoing_mails where kind = 'new_device' and recipient = '${user.email}'`,
  );
  expect(rows).toEqual([{ count: 10 }]);
});

it('use the templates and the mail hook of the project', async () => {
  const own = await plinth.createProject({
    settings: {
      new_device_mails: true,
      mail_templates: { new_device: { subject: '{{ client }} from {{ ip }} at {{ signed_in_at }}' } },
    },
  });
  const user = await signUp(at(FIREFOX, '203.0.113.7', own), own);
  await signIn(at(PHONE, '198.51.100.1', own), user, own);
  expect((await nth(user, 1)).subject).toMatch(/^Chrome, Android from 198\.51\.100\.1 at \d{4}-.* UTC$/);
  await own.sql(`create table told (event jsonb);
    create function tell(event jsonb) returns jsonb language plpgsql security definer as $$ begin
      insert into public.told values (event); return '{}'; end $$`);
  const settings = { send_email_hook: 'public.tell' };
  await plinth.admin.patch(`/admin/v1/projects/${own.id}`, { settings });
  await signIn(at(HOSTILE, '198.51.100.1', own), user, own);
  const told = await eventually(async () => (await own.sql('select event from told'))[0] ?? null);
  expect(told.event.email_data).toMatchObject({
    email_action_type: 'new_device',
    device: { ip: '198.51.100.1', client: '-', signed_in_at: expect.any(String) },
  });
});

it('are off by default', async () => {
  const plain = await plinth.createProject();
  const user = await signUp(at(FIREFOX, '203.0.113.7', plain), plain);
  await signIn(at(PHONE, '198.51.100.1', plain), user, plain);
  expect(await plain.sql('select from auth.outgoing_mails')).toEqual([]);
});
