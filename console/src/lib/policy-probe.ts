/**
 * Why a row is visible or not: each policy of a table, evaluated for one identity and one row. PostgreSQL itself
 * reports only whether a row passed, so the expressions are evaluated one by one, in a read-only transaction with the
 * role and claims of the identity. Pure.
 */
import type { Policy, Relation } from '../queries/catalog-types';
import { identifier, literal, qualified } from './sql-text';

export type Command = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
export const COMMANDS: readonly Command[] = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** The value of an expression, or the message with which it failed. */
export type Outcome = boolean | null | { readonly error: string };

export interface PolicyOutcome {
  /** The policy names this role, `public`, or a role that it is a member of. */
  readonly applies: boolean;
  readonly using: Outcome;
  readonly check: Outcome;
}

export interface Facts {
  /** The role ignores row-level security. */
  readonly bypasses: boolean;
  readonly privileges: Readonly<Record<Command, boolean>>;
}

export interface Identified {
  readonly role: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

type Probed = Pick<Relation, 'schema' | 'name'>;

/** The statements of a simple query run in one transaction, with which these settings end. */
function asIdentity({ role, claims }: Identified): string {
  return `set transaction read only;
select set_config('request.jwt.claims', ${literal(JSON.stringify(claims))}, true), set_config('role', ${literal(role)}, true);`;
}

/** One row: `bypasses`, the privileges, and for each policy whether it applies to the role. */
export function factsSql(
  { schema, name }: Probed,
  policies: readonly Pick<Policy, 'roles'>[],
  identity: Identified,
): string {
  const table = `(select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${literal(schema)} and c.relname = ${literal(name)})`;
  const privileges = COMMANDS.map((command) =>
    command === 'DELETE'
      ? `has_table_privilege(${table}, 'DELETE') as "DELETE"`
      : `has_any_column_privilege(${table}, '${command}') as "${command}"`,
  );
  const applies = policies.map(({ roles }, index) => {
    const member = roles.map((role) =>
      role === 'public' ? 'true' : `pg_has_role(current_user, ${literal(role)}, 'usage')`,
    );
    return `(${member.join(' or ') || 'false'}) as "applies${index}"`;
  });
  return `${asIdentity(identity)}
select (select rolbypassrls or rolsuper from pg_roles where rolname = current_user) as bypasses,
  ${[...privileges, ...applies].join(',\n  ')};`;
}

/**
 * One row with the value of each expression. The name of the table stands for the given row, as it does in a policy.
 * @param row JSON of the row
 */
export function expressionsSql(
  { schema, name }: Probed,
  expressions: readonly string[],
  row: string,
  identity: Identified,
): string {
  const columns = expressions.map((expression, index) => `(${expression})::boolean as "value${index}"`);
  return `${asIdentity(identity)}
select ${columns.join(',\n  ')}
from jsonb_populate_record(null::${qualified(schema, name)}, ${literal(row)}::jsonb) as ${identifier(name)};`;
}

export type Verdict =
  | 'rlsOff'
  | 'bypasses'
  | 'noPrivilege'
  | 'noPolicy'
  | 'notPermitted'
  | 'restricted'
  | 'allowed';

export interface Judged {
  readonly policy: Policy;
  readonly outcome: PolicyOutcome;
}

/** The policies that apply to a command. */
export function policiesFor<One extends { readonly policy: Policy }>(
  command: Command,
  all: readonly One[],
): readonly One[] {
  return all.filter(({ policy }) => policy.command === 'ALL' || policy.command === command);
}

/** True if the policy allows a command on the unchanged row. Null counts as false, as in PostgreSQL. */
function passes(command: Command, { policy, outcome }: Judged): boolean {
  const check = policy.check === null ? outcome.using : outcome.check;
  if (command === 'INSERT') return check === true;
  if (command === 'UPDATE') return outcome.using === true && check === true;
  return outcome.using === true;
}

/** @param isSecured row-level security is on */
export function verdictOf(
  command: Command,
  isSecured: boolean,
  { bypasses, privileges }: Facts,
  all: readonly Judged[],
): Verdict {
  if (!privileges[command]) return 'noPrivilege';
  if (!isSecured) return 'rlsOff';
  if (bypasses) return 'bypasses';
  const deciding = policiesFor(command, all).filter(({ outcome }) => outcome.applies);
  const permissive = deciding.filter(({ policy }) => policy.permissive);
  if (permissive.length === 0) return 'noPolicy';
  if (!permissive.some((one) => passes(command, one))) return 'notPermitted';
  const isRestricted = deciding.some((one) => !one.policy.permissive && !passes(command, one));
  return isRestricted ? 'restricted' : 'allowed';
}
