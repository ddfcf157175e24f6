/** `plinth people ...`: the staff of the installation, and the staff of a project. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { dataOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list, table } from './format';

const INSTALL_ROLES = ['owner', 'operator', 'auditor'] as const;
const PROJECT_ROLES = ['admin', 'developer', 'viewer'] as const;
const COLUMNS = ['email', 'name', 'role', 'has_factor', 'disabled_at', 'last_sign_in_at'];

type InstallRole = (typeof INSTALL_ROLES)[number];
type ProjectRole = (typeof PROJECT_ROLES)[number];

interface InviteOptions {
  readonly role?: InstallRole;
  readonly project?: readonly { readonly name: string; readonly role: ProjectRole }[];
}

interface RotateOptions {
  readonly rotateDatabasePassword?: true;
}

interface GrantOptions extends RotateOptions {
  readonly role: ProjectRole;
}

interface UpdateOptions extends RotateOptions {
  readonly name?: string;
  readonly role?: InstallRole | 'none';
  readonly disable?: true;
  readonly enable?: true;
}

const ROTATE = [
  '--rotate-database-password',
  'change the password of the owner role of each database that they may know, too',
] as const;

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
  const members = program.command('people').description('staff, who administer the installation');
  members
    .command('list')
    .description('list staff members by address')
    .action(async () => {
      const all = await dataOf(context.api.GET('/admin/v1/people'));
      context.print(all, () => table(all, COLUMNS));
    });
  addInvitationCommands(members, context);
  members
    .command('update <email>')
    .description('change name or role of a staff member, or disable the account')
    .option('--name <name>', 'the name')
    .addOption(new Option('--role <role>', 'role of the installation').choices([...INSTALL_ROLES, 'none']))
    .option('--disable', 'end all sessions and tokens, and refuse new ones')
    .option('--enable', 'let the staff member sign in again')
    .option(...ROTATE)
    .action(async (email: string, options: UpdateOptions) => {
      const { name, role, disable, enable, rotateDatabasePassword: rotate } = options;
      const { id } = await findPerson(context, email);
      const body = {
        name,
        role: role === 'none' ? null : role,
        disabled: disable ? true : enable ? false : undefined,
        rotate_database_password: rotate,
      };
      const member = await dataOf(
        context.api.PATCH('/admin/v1/people/{id}', { params: { path: { id } }, body }),
      );
      context.print(member, () => list(member));
    });
  members
    .command('delete <email>')
    .description('delete the account of a staff member')
    .option(...ROTATE)
    .action(async (email: string, { rotateDatabasePassword: rotate }: RotateOptions) => {
      const { id } = await findPerson(context, email);
      const params = { path: { id }, ...(rotate ? { query: { rotate_database_password: true } } : {}) };
      await context.api.DELETE('/admin/v1/people/{id}', { params });
      context.print({ id, email, deleted: true }, () => `Deleted ${email}\n`);
    });
}

function addInvitationCommands(members: Command, context: CommandContext): void {
  members
    .command('invite <email>')
    .description('mail an invitation; without SMTP_URL, prints its link')
    .addOption(new Option('--role <role>', 'role of the installation').choices(INSTALL_ROLES))
    .option('--project <project:role>', 'role in a project; may be repeated', projectRole)
    .action(async (email: string, { role, project = [] }: InviteOptions) => {
      const projects = [];
      for (const { name, role: of } of project)
        projects.push({ id: (await context.server.findProject(name)).id, role: of });
      const body = { email, role: role ?? null, projects };
      const invitation = await dataOf(context.api.POST('/admin/v1/invitations', { body }));
      context.print(invitation, () => list(invitation));
    });
  members
    .command('invitations')
    .description('list open invitations, the newest first')
    .action(async () => {
      const open = await dataOf(context.api.GET('/admin/v1/invitations'));
      context.print(open, () => table(open, ['id', 'email', 'role', 'projects', 'invited_by', 'expires_at']));
    });
  members
    .command('withdraw <invitation>')
    .description('withdraw an invitation, by its id')
    .action(async (id: string) => {
      await context.api.DELETE('/admin/v1/invitations/{id}', { params: { path: { id } } });
      context.print({ id, deleted: true }, () => `Withdrew the invitation ${id}\n`);
    });
}

export function addProjectPeopleCommands(project: Command, context: CommandContext): void {
  const idOf = async (name: string): Promise<string> => (await context.server.findProject(name)).id;
  project
    .command('people <project>')
    .description('list the staff with a role in a project')
    .action(async (name: string) => {
      const params = { path: { id: await idOf(name) } };
      const members = await dataOf(context.api.GET('/admin/v1/projects/{id}/people', { params }));
      context.print(members, () => table(members, ['email', 'name', 'project_role', 'disabled_at']));
    });
  project
    .command('grant <project> <email>')
    .description('give a staff member a role in a project')
    .addOption(new Option('--role <role>', 'the role').choices(PROJECT_ROLES).makeOptionMandatory())
    .option('--rotate-database-password', "change the password of the database's owner role, too")
    .action(async (name: string, email: string, { role, rotateDatabasePassword: rotate }: GrantOptions) => {
      const params = { path: { id: await idOf(name), person_id: email } };
      const address = '/admin/v1/projects/{id}/people/{person_id}';
      const body = { role, rotate_database_password: rotate };
      const member = await dataOf(context.api.PUT(address, { params, body }));
      context.print(member, () => `${email} is ${role} of ${name}\n`);
    });
  project
    .command('revoke <project> <email>')
    .description("take a staff member's role in a project away")
    .option('--rotate-database-password', "change the password of the database's owner role, too")
    .action(async (name: string, email: string, { rotateDatabasePassword: rotate }: RotateOptions) => {
      const params = {
        path: { id: await idOf(name), person_id: email },
        ...(rotate ? { query: { rotate_database_password: true } } : {}),
      };
      await context.api.DELETE('/admin/v1/projects/{id}/people/{person_id}', { params });
      context.print({ project: name, email }, () => `${email} has no role in ${name}\n`);
    });
}

/** `acme:viewer`. */
function projectRole(
  text: string,
  before: readonly { name: string; role: ProjectRole }[] = [],
): readonly { name: string; role: ProjectRole }[] {
  const [name = '', given = ''] = text.split(':');
  const role = PROJECT_ROLES.find((known) => known === given);
  if (name === '' || !role)
    throw new InvalidArgumentError(`It must be a project and a role, such as acme:${PROJECT_ROLES[0]}.`);
  return [...before, { name, role }];
}

async function findPerson({ api }: CommandContext, email: string): Promise<Schema<'StaffMemberResponse'>> {
  const all = await dataOf(api.GET('/admin/v1/people'));
  const found = all.find((member) => member.email.toLowerCase() === email.toLowerCase());
  if (!found) throw new CliError(`There is no staff member with the address ${email}`, EXIT.notFound);
  return found;
}
