/** Mails in the recipient's language, and validation of templates before they are saved (docs/reference/auth.md). */
import { randomUUID } from 'node:crypto';
import { MailServer, ReceivedMail } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url } });
  project = await plinth.createProject({ name: 'Acme' });
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

async function resetMail(own: TestProject, languages: string, data?: object): Promise<ReceivedMail> {
  const user = await own.signUp();
  if (data) await user.http.patch(`${own.auth}/user`, { data });
  const client = own.client(own.anonKey, null).with({ 'accept-language': languages });
  await client.post(`${own.auth}/reset-password`, { email: user.email });
  return smtp.mailTo(user.email);
}

describe('a mail uses', () => {
  it.each([
    ['de-AT,de;q=0.9', /^Neues Passwort für Acme$/, 'Guten Tag'],
    ['fr', /^Réinitialisation de votre mot de passe/, 'Bonjour'],
    ['xx, es;q=0.3', /^Restablezca su contraseña/, 'Hola'],
    ['it', /^Reimposti la password/, 'Salve'],
    ['', /^Reset your password/, 'Hello'],
  ])('the language of the request: %j', async (languages, subject, greeting) => {
    const mail = await resetMail(project, languages);
    expect(mail.subject).toMatch(subject);
    expect(mail.text).toContain(greeting);
    expect(mail.html).toContain(greeting);
  });

  it("the language set on its recipient rather than the request's", async () => {
    expect((await resetMail(project, 'fr', { locale: 'de' })).subject).toMatch(/^Neues Passwort/);
    for (const locale of [7, { a: 1 }, '{{7*7}}', 'x'.repeat(1_000)]) {
      expect((await resetMail(project, 'it', { locale })).subject).toMatch(/^Reimposti/);
    }
  });

  it("the project's language if the recipient has none, also in an invitation", async () => {
    const spanish = await plinth.createProject({ name: 'Acme', settings: { locale: 'es' } });
    expect((await resetMail(spanish, '')).subject).toMatch(/^Restablezca/);
    const email = `invited-${randomUUID()}@example.com`;
    const admin = spanish.service.with({ 'accept-language': 'de' });
    await admin.post(`${spanish.auth}/admin/users/invite`, { email });
    expect((await smtp.mailTo(email)).subject).toBe('Invitación a Acme');
    const other = `invited-${randomUUID()}@example.com`;
    await admin.post(`${spanish.auth}/admin/users/invite`, { email: other, data: { locale: 'fr' } });
    expect((await smtp.mailTo(other)).subject).toMatch(/^Vous êtes invité/);
  });

  it("the project's own template in each language that it defines", async () => {
    const own = await plinth.createProject({
      settings: {
        mail_templates: { reset: { subject: 'Own {{ project }}' }, 'reset.pt-BR': { subject: 'Próprio' } },
      },
    });
    expect((await resetMail(own, 'pt-BR')).subject).toBe('Próprio');
    expect((await resetMail(own, 'de')).subject).toBe('Own Test');
  });

  it('the requested language in a preview', async () => {
    const preview = async (body: object) =>
      (await project.service.post(`${project.auth}/admin/mail-preview`, body)).body;
    expect((await preview({ kind: 'invite', language: 'de' })).subject).toBe('Einladung zu Acme');
    expect((await preview({ kind: 'invite', language: 'xx' })).subject).toBe('You are invited to Acme');
    expect((await preview({ kind: 'invite', language: '../etc' })).status_code).toBe(400);
  });
});

describe('templates are validated when they are saved: 400 names the fault of', () => {
  const save = (mail_templates: unknown) =>
    plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { mail_templates } });

  it.each([
    ['an unclosed tag', { reset: { text: '{% if name %}' } }, /mail_templates\["reset"\].*text: .*if/],
    [
      'an unknown filter',
      { 'reset.de': { html: '{{ name | shell }}' } },
      /mail_templates\["reset\.de"\].*html: .*shell/,
    ],
    ['an unknown tag', { verify: { subject: '{% php %}' } }, /mail_templates\["verify"\].*subject: .*php/],
    ['an include', { invite: { text: '{% include "/etc/passwd" %}' } }, /mail_templates\["invite"\].*text: /],
    [
      'an endless loop',
      { reset: { text: '{% for i in (1..1000000000) %}x{% endfor %}' } },
      /mail_templates\["reset"\]/,
    ],
    ['an unknown mail', { newsletter: { text: 'x' } }, /mail_templates\["newsletter"\] is not a mail/],
    ['an invalid language', { 'reset.../x': { text: 'x' } }, /is not a mail/],
    ['an unknown part', { reset: { body: 'x' } }, /subject, text and html/],
    ['a part that is not text', { reset: { text: 7 } }, /subject, text and html/],
    ['an invalid template', { reset: 'x' }, /subject, text and html/],
    ['a part that is too long', { reset: { text: 'x'.repeat(100_001) } }, /subject, text and html/],
    [
      'too many',
      Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`reset.a${n}`, {}])),
      /more than 100/,
    ],
  ])('%s', async (_what, templates, message) => {
    const answer = await save(templates);
    expect([answer.status, answer.body.error?.message]).toEqual([400, expect.stringMatching(message)]);
    const { settings } = (await plinth.admin.get(`/admin/v1/projects/${project.id}`)).body;
    expect(settings.mail_templates).toEqual({});
  });

  it.each([['not a tag'], ['d'], [7]])('a locale %j', async (locale) => {
    const answer = await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { locale } });
    expect(answer.status).toBe(400);
  });

  it('does not block other requests while a hostile one is validated', async () => {
    const nested = `${'{% for i in (1..1000) %}'.repeat(5)}x${'{% endfor %}'.repeat(5)}`;
    const saving = save({ reset: { subject: nested, text: nested, html: nested } });
    let answered = 0;
    let done = false;
    void saving.then(() => (done = true));
    while (!done) {
      expect((await plinth.http.get('/health/live')).status).toBe(200);
      answered += 1;
    }
    expect((await saving).status).toBe(400);
    // A blocked event loop would answer the first request, or the first two, when the template ends.
    expect(answered).toBeGreaterThan(4);
  });
});
