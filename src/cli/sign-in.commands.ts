/** `plinth login|logout|whoami|setup-link`. */
import type { Command } from 'commander';
import { hostname } from 'node:os';
import { type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list } from './format';
import { addCommands, operation, wholeNumber } from './operation';
import { makeCliToken } from './staff-login';

const DAY_SECONDS = 86_400;

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
      const askCode = (): Promise<string> => signIn.ask('Code of the second factor: ', false);
      const wanted = { name: `plinth login on ${hostname()}`, lifetimeSeconds: days * DAY_SECONDS };
      const made = await makeCliToken(server, { email: address, password, askCode }, wanted);
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
