/** `plinth people ...`, and the people of a project. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list, table } from './format';

const INSTALL_ROLES = ['owner', 'operator', 'auditor'];
const PROJECT_ROLES = ['admin', 'developer', 'viewer'];
const COLUMNS = ['email', 'name', 'role', 'has_factor', 'disabled_at', 'last_sign_in_at'];

interface PersonAnswer {
  readonly [field: string]: unknown;
  readonly id: string;
  readonly email: string;
}

interface InviteOptions {
  readonly role?: string;
  readonly project?: readonly { readonly name: string; readonly role: string }[];
}

/** An argument that is a whole number. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };

export function addPeopleCommands(program: Command, context: CommandContext): void {
  const people = program.command('people').description('people who administer the installation');
  people
    .command('list')
    .description('list the people, by address')
    .action(async () => {
      const { body } = await context.server.send<PersonAnswer[]>('GET', '/people');
      context.print(body, () => table(body, COLUMNS));
    });
  addInvitationCommands(people, context);
  people
    .command('update <email>')
    .description('change name or role of a person, or disable the account')
    .option('--name <name>', 'the name')
    .addOption(new Option('--role <role>', 'role of the installation').choices([...INSTALL_ROLES, 'none']))
    .option('--disable', 'end all sessions and tokens, and refuse new ones')
    .option('--enable', 'let the person sign in again')
    .action(
      async (email: string, options: { name?: string; role?: string; disable?: true; enable?: true }) => {
        const { id } = await findPerson(context, email);
        const { body } = await context.server.send<PersonAnswer>('PATCH', `/people/${id}`, {
          name: options.name,
          role: options.role === 'none' ? null : options.role,
          ...(options.disable ? { disabled: true } : options.enable ? { disabled: false } : {}),
        });
        context.print(body, () => list(body));
      },
    );
  people
    .command('delete <email>')
    .description('delete the account of a person')
    .action(async (email: string) => {
      const { id } = await findPerson(context, email);
      await context.server.send('DELETE', `/people/${id}`);
      context.print({ id, email, deleted: true }, () => `Deleted ${email}\n`);
    });
}

function addInvitationCommands(people: Command, context: CommandContext): void {
  people
    .command('invite <email>')
    .description('mail an invitation; without SMTP_URL, prints its link')
    .addOption(new Option('--role <role>', 'role of the installation').choices(INSTALL_ROLES))
    .option('--project <project:role>', 'role in a project; may be repeated', projectRole)
    .action(async (email: string, { role, project = [] }: InviteOptions) => {
      const projects = [];
      for (const { name, role: of } of project)
        projects.push({ id: (await context.server.findProject(name)).id, role: of });
      const body = { email, role: role ?? null, projects };
      const answer = (await context.server.send<PersonAnswer>('POST', '/invitations', body)).body;
      context.print(answer, () => list(answer));
    });
  people
    .command('invitations')
    .description('list open invitations, the newest first')
    .action(async () => {
      const { body } = await context.server.send<Record<string, unknown>[]>('GET', '/invitations');
      context.print(body, () => table(body, ['id', 'email', 'role', 'projects', 'invited_by', 'expires_at']));
    });
  people
    .command('withdraw <invitation>')
    .description('withdraw an invitation, by its id')
    .action(async (id: string) => {
      await context.server.send('DELETE', `/invitations/${encodeURIComponent(id)}`);
      context.print({ id, deleted: true }, () => `Withdrew the invitation ${id}\n`);
    });
}

export function addProjectPeopleCommands(project: Command, context: CommandContext): void {
  const path = async (name: string): Promise<string> =>
    `/projects/${(await context.server.findProject(name)).id}/people`;
  project
    .command('people <project>')
    .description('list the people with a role in a project')
    .action(async (name: string) => {
      const { body } = await context.server.send<PersonAnswer[]>('GET', await path(name));
      context.print(body, () => table(body, ['email', 'name', 'project_role', 'disabled_at']));
    });
  project
    .command('grant <project> <email>')
    .description('give a person a role in a project')
    .addOption(new Option('--role <role>', 'the role').choices(PROJECT_ROLES).makeOptionMandatory())
    .action(async (name: string, email: string, { role }: { role: string }) => {
      const address = `${await path(name)}/${encodeURIComponent(email)}`;
      const { body } = await context.server.send<PersonAnswer>('PUT', address, { role });
      context.print(body, () => `${email} is ${role} of ${name}\n`);
    });
  project
    .command('revoke <project> <email>')
    .description("take a person's role in a project away")
    .option('--rotate-database-password', "change the password of the database's owner role, too")
    .action(async (name: string, email: string, { rotateDatabasePassword: rotate }: RevokeOptions) => {
      const query = rotate ? '?rotate_database_password=true' : '';
      await context.server.send('DELETE', `${await path(name)}/${encodeURIComponent(email)}${query}`);
      context.print({ project: name, email }, () => `${email} has no role in ${name}\n`);
    });
}

interface RevokeOptions {
  readonly rotateDatabasePassword?: true;
}

/** `acme:viewer`. */
function projectRole(
  text: string,
  before: readonly { name: string; role: string }[] = [],
): readonly { name: string; role: string }[] {
  const [name = '', role = ''] = text.split(':');
  if (name === '' || !PROJECT_ROLES.includes(role))
    throw new InvalidArgumentError(`It must be a project and a role, such as acme:${PROJECT_ROLES[0]}.`);
  return [...before, { name, role }];
}

async function findPerson(context: CommandContext, email: string): Promise<PersonAnswer> {
  const { body } = await context.server.send<PersonAnswer[]>('GET', '/people');
  const found = body.find((person) => person.email.toLowerCase() === email.toLowerCase());
  if (!found) throw new CliError(`There is no person with the address ${email}`, EXIT.notFound);
  return found;
}
