/** A policy of row-level security in terms that can be described in words. Pure. */
import type { Policy } from '../queries/catalog-types';

export interface PolicyWords {
  /** `everybody`, `anon`, `authenticated`, or the names of other roles. */
  readonly who: 'everybody' | 'anon' | 'authenticated' | { readonly roles: string };
  readonly what: Policy['command'];
  readonly rows: Rows;
  /** The condition for a changed row, if it differs. */
  readonly changed: Rows | null;
  readonly restrictive: boolean;
}

export type Rows =
  | { readonly kind: 'every' }
  /** The column has the id of the user. */
  | { readonly kind: 'own'; readonly column: string }
  | { readonly kind: 'where'; readonly expression: string };

const UID = String.raw`(?:\( ?SELECT auth\.uid\(\)(?: AS uid)?\)|auth\.uid\(\))`;
const NAME = String.raw`(?:"([^"]+)"|(\w+))`;
const OWN = new RegExp(`^(?:${NAME} = ${UID}|${UID} = ${NAME})$`, 'i');

export function policyWords({ roles, command, using, check, permissive }: Policy): PolicyWords {
  const before = command === 'INSERT' ? check : using;
  const isOther = command !== 'INSERT' && check !== null && check !== using;
  return {
    who: whoOf(roles),
    what: command,
    rows: rowsOf(before),
    changed: isOther ? rowsOf(check) : null,
    restrictive: !permissive,
  };
}

function whoOf(roles: readonly string[]): PolicyWords['who'] {
  if (roles.includes('public') || (roles.includes('anon') && roles.includes('authenticated')))
    return 'everybody';
  const [only, ...others] = roles;
  if (others.length === 0 && (only === 'anon' || only === 'authenticated')) return only;
  return { roles: roles.join(', ') };
}

function rowsOf(expression: string | null): Rows {
  const plain = withoutParentheses(expression ?? 'true');
  if (plain === 'true') return { kind: 'every' };
  const column = OWN.exec(plain)?.slice(1).find(Boolean);
  return column === undefined ? { kind: 'where', expression: plain } : { kind: 'own', column };
}

/** PostgreSQL prints `(a = b)`; but `(a) or (b)` has no pair around it. */
function withoutParentheses(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('(') || !trimmed.endsWith(')')) return trimmed;
  let depth = 0;
  for (const [index, character] of [...trimmed].entries()) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth === 0 && index < [...trimmed].length - 1) return trimmed;
  }
  return withoutParentheses(trimmed.slice(1, -1));
}
