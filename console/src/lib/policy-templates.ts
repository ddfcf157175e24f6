/** Row-level security: templates of policies, and their SQL. */
import type { Policy, Relation } from '../queries/catalog-types';
import { identifier, qualified } from './sql-text';

export type PolicyDraft = Omit<Policy, 'roles'> & { readonly roles: readonly string[] };

const TEMPLATES = ['own', 'readAll', 'readSignedIn', 'insertSignedIn', 'claim'] as const;
export type Template = (typeof TEMPLATES)[number];

const OWNER = '(select auth.uid())';

/** The column that holds the user of a row, guessed by its name. */
function ownerColumnOf({ columns }: Pick<Relation, 'columns'>): string | null {
  const uuids = columns.filter(({ type }) => type === 'uuid').map(({ name }) => name);
  const usual = ['user_id', 'owner_id', 'owner', 'author_id', 'created_by'];
  return usual.find((name) => uuids.includes(name)) ?? uuids.find((name) => name !== 'id') ?? null;
}

/** The templates that suit a table: some need a column with the owner of a row. */
export function templatesFor(relation: Pick<Relation, 'columns'>): readonly Template[] {
  const hasOwner = ownerColumnOf(relation) !== null;
  return TEMPLATES.filter((one) => hasOwner || (one !== 'own' && one !== 'insertSignedIn'));
}

export function draftOf(template: Template, relation: Pick<Relation, 'columns'>): PolicyDraft {
  const own = `${identifier(ownerColumnOf(relation) ?? 'user_id')} = ${OWNER}`;
  const base = { permissive: true, roles: ['authenticated'], using: null, check: null };
  switch (template) {
    case 'own':
      return { ...base, name: 'users manage their own rows', command: 'ALL', using: own, check: own };
    case 'readAll':
      return {
        ...base,
        name: 'everyone can read',
        command: 'SELECT',
        roles: ['anon', 'authenticated'],
        using: 'true',
      };
    case 'readSignedIn':
      return { ...base, name: 'signed-in users can read', command: 'SELECT', using: 'true' };
    case 'insertSignedIn':
      return { ...base, name: 'users can add their own rows', command: 'INSERT', check: own };
    case 'claim': {
      const condition = "(select auth.jwt()) ->> 'team' = 'staff'";
      return { ...base, name: 'staff can do everything', command: 'ALL', using: condition, check: condition };
    }
  }
}

/** INSERT has no USING, SELECT and DELETE have no WITH CHECK. */
export function takesUsing(command: Policy['command']): boolean {
  return command !== 'INSERT';
}

export function takesCheck(command: Policy['command']): boolean {
  return command !== 'SELECT' && command !== 'DELETE';
}

export function createPolicySql(schema: string, table: string, draft: PolicyDraft): string {
  const { name, command, permissive, roles, using, check } = draft;
  const lines = [
    `create policy ${identifier(name)} on ${qualified(schema, table)}`,
    `as ${permissive ? 'permissive' : 'restrictive'} for ${command.toLowerCase()}`,
    `to ${roles.length === 0 ? 'public' : roles.map(roleName).join(', ')}`,
  ];
  if (takesUsing(command) && using) lines.push(`using (${using})`);
  if (takesCheck(command) && check) lines.push(`with check (${check})`);
  return `${lines.join('\n  ')};`;
}

function roleName(role: string): string {
  return role === 'public' ? 'public' : identifier(role);
}

export function dropPolicySql(schema: string, table: string, name: string): string {
  return `drop policy ${identifier(name)} on ${qualified(schema, table)};`;
}

export function securitySql(schema: string, table: string, enable: boolean): string {
  return `alter table ${qualified(schema, table)}\n  ${enable ? 'enable' : 'disable'} row level security;`;
}
