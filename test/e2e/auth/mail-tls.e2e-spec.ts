/** Mail over TLS with a login, and refusal of an untrusted certificate. */
import { eventually, MailServer, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let smtp: MailServer;

afterEach(() => smtp.stop());

/** Without key and certificate smtp-server uses its own self-signed pair for localhost. */
async function startPlinth(
  query: string,
  scheme = 'smtp',
): Promise<{ plinth: TestPlinth; project: TestProject }> {
  const url = smtp.url.replace('smtp://', `${scheme}://plinth:let-me-in@`);
  const plinth = await TestPlinth.start({
    env: { SMTP_URL: `${url}${query}` },
    tuning: { mailRetryDelayMs: 50 },
  });
  return { plinth, project: await plinth.createProject() };
}

it.each([
  [
    'upgrades with STARTTLS',
    'smtp',
    { disabledCommands: [] },
    '?requireTLS=true&tls.rejectUnauthorized=false',
  ],
  ['speaks TLS from the first byte with smtps', 'smtps', { secure: true }, '?tls.rejectUnauthorized=false'],
])('%s and signs in before it sends', async (_how, scheme, options, query) => {
  const logins: string[] = [];
  smtp = await MailServer.start({
    ...options,
    authOptional: false,
    onAuth: (auth, _session, callback) => {
      logins.push(`${auth.username}:${auth.password}`);
      callback(null, { user: auth.username });
    },
  });
  const { plinth, project } = await startPlinth(query, scheme);
  try {
    const user = await project.signUp();
    await project.client(project.anonKey, null).post(`${project.auth}/reset-password`, { email: user.email });
    const mail = await smtp.mailTo(user.email);
    expect(mail.secure).toBe(true);
    expect(tokenIn(mail)).toBeTruthy();
    expect(new Set(logins)).toEqual(new Set(['plinth:let-me-in']));
  } finally {
    await plinth.stop();
  }
});

it('sends no mail to a server with an untrusted certificate', async () => {
  smtp = await MailServer.start({
    disabledCommands: [],
    onAuth: (auth, _session, callback) => callback(null, { user: auth.username }),
  });
  const { plinth, project } = await startPlinth('?requireTLS=true');
  try {
    const user = await project.signUp();
    await project.client(project.anonKey, null).post(`${project.auth}/reset-password`, { email: user.email });
    const error = await eventually(async () => {
      const [row] = await project.sql(
        `select last_error from auth.outgoing_mails where user_id = '${user.id}'`,
      );
      return (row?.last_error ?? null) as string | null;
    });
    expect(error).toMatch(/certificate/i);
    expect(smtp.mails).toEqual([]);
  } finally {
    await plinth.stop();
  }
});
