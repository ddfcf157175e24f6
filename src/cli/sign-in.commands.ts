/** `plinth login|logout|whoami|setup-link`. */
import type { Command } from 'commander';
import type { IncomingHttpHeaders } from 'node:http';
import { hostname } from 'node:os';
import { text as textOf } from 'node:stream/consumers';
import { messageOf } from '../common/errors/error-facts';
import { isJsonObject, parseJson } from '../common/text/json';
import { errorOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext, list } from './command-context';
import { addCommands, operation, wholeNumber } from './operation';
import { sendRequest } from './send-request';

const DAY_SECONDS = 86_400;
const ALL_SCOPES = ['read', 'write', 'sql', 'admin'];

export function addSignInCommands(program: Command, context: CommandContext): void {
  const { signIn } = context.environment;
  program
    .command('login')
    .description('sign in as a staff member; asks for email, password and code, and keeps a token')
    .option('--email <email>', 'the address of the account')
    .option('--days <days>', 'days until the token expires', wholeNumber(1, 366), 30)
    .action(async ({ email, days }: { email?: string; days: number }) => {
      const server = signIn.server();
      const address = email ?? (await signIn.ask(`Email for ${server}: `, false));
      const password = await signIn.ask('Password: ', true);
      const session = await openSession(server, { email: address, password }, () =>
        signIn.ask('Code of the second factor: ', false),
      );
      const made = await makeToken(server, session, days * DAY_SECONDS);
      const logins = signIn.logins();
      logins.save(server, { token: made.token, id: made.id, email: address });
      const answer = { server, email: address, expires_at: made.expires_at, file: logins.file };
      context.print(answer, () => `Signed in to ${server} as ${address} until ${made.expires_at}\n`);
    });
  program
    .command('logout')
    .description('revoke and delete the token that `plinth login` saved')
    .action(async () => {
      const server = signIn.server();
      const login = signIn.logins().find(server);
      if (!login) throw new CliError(`You are not signed in to ${server}`, EXIT.notFound);
      try {
        await context.api.DELETE('/admin/v1/tokens/{id}', { params: { path: { id: login.id } } });
      } finally {
        signIn.logins().save(server, null);
      }
      context.print({ server }, () => `Signed out of ${server}\n`);
    });
  addCommands(program, context, {
    whoami: operation('GET /admin/v1/session', 'show the account that the command line uses, and its roles', {
      text: (session) => list(summaryOf(session)),
    }),
    'setup-link': operation(
      'POST /admin/v1/setup/link',
      'print a link for the first owner, while there is none',
      { text: ({ link }) => `${link}\n` },
    ),
  });
}

function summaryOf({
  person: member,
  projects,
  expires_at,
}: Schema<'StaffSessionResponse'>): Record<string, unknown> {
  return {
    name: member.name,
    email: member.email,
    role: member.role,
    projects: projects.map(({ slug, role }) => `${slug}: ${role}`).join(', '),
    expires_at,
  };
}

type Headers = Readonly<Record<string, string>>;

/** @param askCode called if the account has a second factor @returns the headers of requests in the session @throws CliError */
async function openSession(
  server: string,
  credentials: { readonly email: string; readonly password: string },
  askCode: () => Promise<string>,
): Promise<Headers> {
  let answer = await call(server, 'POST', '/session', {}, credentials);
  if (errorOf(answer.text)?.code === 'factor_required')
    answer = await call(server, 'POST', '/session', {}, { ...credentials, code: await askCode() });
  const { csrf_token: token } = bodyOf<{ csrf_token: string }>(answer);
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0];
  if (cookie === undefined) throw new CliError('The response of the server contains no session', EXIT.failed);
  return { cookie, 'x-csrf-token': token };
}

/** Makes a personal access token, and ends the session. @throws CliError */
async function makeToken(
  server: string,
  session: Headers,
  seconds: number,
): Promise<{ readonly token: string; readonly id: string; readonly expires_at: string }> {
  try {
    const body = { name: `plinth login on ${hostname()}`, scopes: ALL_SCOPES, expires_in: seconds };
    return bodyOf(await call(server, 'POST', '/tokens', session, body));
  } finally {
    await call(server, 'DELETE', '/session', session);
  }
}

interface TextResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

async function call(
  server: string,
  method: string,
  path: string,
  headers: Headers,
  body?: object,
): Promise<TextResponse> {
  try {
    const response = await sendRequest(`${server}/admin/v1${path}`, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      body: body && JSON.stringify(body),
    });
    return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) };
  } catch (error) {
    throw new CliError(`No Plinth answers on ${server}: ${messageOf(error)}`, EXIT.noServer);
  }
}

/** @throws CliError with the server's message */
function bodyOf<T>({ status, text }: TextResponse): T {
  const body = parseJson(text);
  if (status < 300 && isJsonObject(body)) return body as T;
  const error = errorOf(text);
  const message = typeof error?.message === 'string' ? error.message : `the server answered ${status}`;
  throw new CliError(message, EXIT.failed, error);
}
