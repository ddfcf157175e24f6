/** `plinth people`, `plinth token`, and the staff of a project: accounts that administer the installation. */
import { InvalidArgumentError } from 'commander';
import { dataOf } from './admin-client';
import { CliError, EXIT } from './cli-error';
import type { CommandContext } from './command-context';
import { type Commands, operation, wholeNumber } from './operation';

const INSTALL_ROLES = ['owner', 'operator', 'auditor'] as const;
const PROJECT_ROLES = ['admin', 'developer', 'viewer'] as const;
const DAY_SECONDS = 86_400;
const PERSON = '/admin/v1/people/{id}';
const PROJECT_PERSON = '/admin/v1/projects/{id}/people/{person_id}';

type NamedRole = Readonly<Record<'name' | 'role', string>>;

const ROTATE = [
  '--rotate-database-password',
  'change the password of the owner role of each database that they may know, too',
] as const;
const ROTATE_ONE = [ROTATE[0], "change the password of the database's owner role, too"] as const;

export const PEOPLE_COMMANDS: Commands = {
  list: operation('GET /admin/v1/people', 'list staff members by address', {
    columns: ['email', 'name', 'role', 'has_factor', 'disabled_at', 'last_sign_in_at'],
  }),
  'invite <email>': operation(
    'POST /admin/v1/invitations',
    'mail an invitation; without SMTP_URL, prints its link',
    {
      options: {
        role: ['--role <role>', 'role of the installation', (option) => option.choices(INSTALL_ROLES)],
        projects: [
          '--project <project:role>',
          'role in a project; may be repeated',
          (option) => option.argParser(projectRole).default([], 'none'),
        ],
      },
      input: async ({ role = null, projects, ...rest }, _args, { server }) => {
        const found = [];
        for (const { name, role: of } of projects as NamedRole[])
          found.push({ id: (await server.findProject(name)).id, role: of });
        return { ...rest, role, projects: found };
      },
    },
  ),
  invitations: operation('GET /admin/v1/invitations', 'list open invitations, the newest first', {
    columns: ['id', 'email', 'role', 'projects', 'invited_by', 'expires_at'],
  }),
  'withdraw <invitation>': operation(
    'DELETE /admin/v1/invitations/{id}',
    'withdraw an invitation, by its id',
    {
      result: ({ invitation }) => ({ id: invitation, deleted: true }),
      text: (_answer, { invitation }) => `Withdrew the invitation ${invitation}\n`,
    },
  ),
  'update <email>': operation(
    `PATCH ${PERSON}`,
    'change name or role of a staff member, or disable the account',
    {
      placed: findPerson,
      options: {
        name: ['--name <name>', 'the name'],
        role: [
          '--role <role>',
          'role of the installation',
          (option) => option.choices([...INSTALL_ROLES, 'none']),
        ],
        disabled: ['--disable', 'end all sessions and tokens, and refuse new ones'],
        '-enable': ['--enable', 'let the staff member sign in again'],
        rotate_database_password: ROTATE,
      },
      input: ({ role, disabled, '-enable': isEnabled, ...rest }) => ({
        ...rest,
        role: role === 'none' ? null : role,
        disabled: disabled ?? (isEnabled ? false : undefined),
      }),
    },
  ),
  'delete <email>': operation(`DELETE ${PERSON}`, 'delete the account of a staff member', {
    placed: findPerson,
    options: { rotate_database_password: ROTATE },
    result: ({ id, email }) => ({ id, email, deleted: true }),
    text: (_answer, { email }) => `Deleted ${email}\n`,
  }),
};

export const PROJECT_PEOPLE_COMMANDS: Commands = {
  'people <project>': operation(
    'GET /admin/v1/projects/{id}/people',
    'list the staff with a role in a project',
    { columns: ['email', 'name', 'project_role', 'disabled_at'] },
  ),
  'grant <project> <email>': operation(`PUT ${PROJECT_PERSON}`, 'give a staff member a role in a project', {
    options: {
      role: ['--role <role>', 'the role', (option) => option.choices(PROJECT_ROLES).makeOptionMandatory()],
      rotate_database_password: ROTATE_ONE,
    },
    text: ({ project_role }, { project, email }) => `${email} is ${project_role} of ${project}\n`,
  }),
  'revoke <project> <email>': operation(
    `DELETE ${PROJECT_PERSON}`,
    "remove a staff member's role in a project",
    {
      options: { rotate_database_password: ROTATE_ONE },
      result: ({ project, email }) => ({ project, email }),
      text: (_answer, { project, email }) => `${email} has no role in ${project}\n`,
    },
  ),
};

export const TOKEN_COMMANDS: Commands = {
  list: operation('GET /admin/v1/tokens', 'list your tokens, the newest first', {
    columns: ['id', 'name', 'scopes', 'project_id', 'expires_at', 'last_used_at'],
  }),
  'create <name>': operation('POST /admin/v1/tokens', 'create a token, and print it once', {
    options: {
      scopes: [
        '--scope <scopes...>',
        'what it may do',
        (option) => option.choices(['read', 'write', 'sql', 'admin']).makeOptionMandatory(),
      ],
      project_id: ['--project <project>', 'only this project, by id or slug'],
      expires_in: [
        '--days <days>',
        'days until it expires',
        (option) => option.argParser(wholeNumber(1, 366)).default(30),
      ],
    },
    input: async ({ project_id: project, expires_in: days, ...rest }, _args, { server }) => ({
      ...rest,
      project_id: typeof project === 'string' ? (await server.findProject(project)).id : null,
      expires_in: Number(days) * DAY_SECONDS,
    }),
  }),
  'delete <id>': operation('DELETE /admin/v1/tokens/{id}', 'delete a token', {
    result: ({ id }) => ({ id, deleted: true }),
    text: (_answer, { id }) => `Deleted the token ${id}\n`,
  }),
};

/** `acme:viewer`. */
function projectRole(text: string, before: readonly NamedRole[]): readonly NamedRole[] {
  const [name = '', given = ''] = text.split(':');
  const role = PROJECT_ROLES.find((known) => known === given);
  if (name === '' || !role)
    throw new InvalidArgumentError(`It must be a project and a role, such as acme:${PROJECT_ROLES[0]}.`);
  return [...before, { name, role }];
}

async function findPerson(email: string, { api }: CommandContext): Promise<string> {
  const all = await dataOf(api.GET('/admin/v1/people'));
  const found = all.find((member) => member.email.toLowerCase() === email.toLowerCase());
  if (!found) throw new CliError(`There is no staff member with the address ${email}`, EXIT.notFound);
  return found.id;
}
