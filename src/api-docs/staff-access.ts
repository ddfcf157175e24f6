/** Documents who may call an operation; for the administration, from ROUTE_TABLE and the guards that enforce it. */
import type { RouteRule } from '../access/route-rules.service';
import { isOfProject, type Role, ROUTE_TABLE, type RouteAccess } from '../staff/roles/route-table';
import { mapOperations } from './openapi/map-schemas';
import type { PathItem } from './openapi/model';

/** Names of the security schemes. */
export const ADMIN_KEY = 'platform-admin-key';
export const STAFF_TOKEN = 'personal-access-token';
export const STAFF_SESSION = 'staff-session';

const INSTALL_ROLES: readonly Role[] = ['owner', 'operator', 'auditor'];

/** @param path as in the document: `/admin/v1/projects/{id}` @param item its operations */
export function withAccess(path: string, item: PathItem, rules: readonly RouteRule[]): PathItem {
  const declared = path.replace(/\{(\w+)\}/g, ':$1');
  return mapOperations(item, (operation, lowerCase) => {
    const method = lowerCase.toUpperCase();
    const route = `${method} ${declared}`;
    const access = ROUTE_TABLE[route];
    const rule = rules.find((one) => one.path === declared && one.method === method)?.rule;
    // Linters report public operations without `security`.
    if (!access || rule === undefined) return { ...operation, security: operation.security ?? [] };
    const schemes = schemesOf(access, rule);
    const texts = [operation.description ?? '', accessText(route, access, schemes)];
    return {
      ...operation,
      description: texts.filter((text) => text !== '').join('\n\n'),
      security: schemes.map((name) => ({ [name]: [] })),
    };
  });
}

function schemesOf({ scope }: RouteAccess, rule: RouteRule['rule']): readonly string[] {
  if (rule === 'staff_session') return [STAFF_SESSION];
  const ofPersons = scope === null ? [STAFF_SESSION] : [STAFF_TOKEN, STAFF_SESSION];
  return rule === 'staff_member' ? ofPersons : [ADMIN_KEY, ...ofPersons];
}

function accessText(
  route: string,
  { roles, scope, stepUp }: RouteAccess,
  schemes: readonly string[],
): string {
  const sentences = [
    roles === null
      ? 'Access: every staff member, regardless of role.'
      : `Access: ${rolesText(route, roles)}.`,
    scope !== null && schemes.includes(STAFF_TOKEN)
      ? `A personal access token needs the scope \`${scope}\`.`
      : 'Personal access tokens are refused.',
    stepUp
      ? 'The staff member of a session must have signed in, or confirmed the session, less than ten minutes ago (403 step_up_required).'
      : '',
    schemes.includes(ADMIN_KEY)
      ? ''
      : 'PLATFORM_ADMIN_KEY is refused, because it belongs to no staff member.',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** `owner or operator of the installation; admin of the project` */
function rolesText(route: string, roles: readonly Role[]): string {
  const groups: readonly [readonly Role[], string][] = [
    [roles.filter((role) => INSTALL_ROLES.includes(role)), 'of the installation'],
    [
      roles.filter((role) => !INSTALL_ROLES.includes(role)),
      isOfProject(route) ? 'of the project' : 'of a project',
    ],
  ];
  return groups
    .filter(([names]) => names.length > 0)
    .map(([names, where]) => `${alternatives(names)} ${where}`)
    .join('; ');
}

function alternatives(names: readonly Role[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  const last = quoted.at(-1) ?? '';
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} or ${last}`;
}
