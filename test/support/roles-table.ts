/** The table of roles as Markdown, for docs/reference/access.md. */
import { ROLES, ROUTE_TABLE } from '../../src/staff/roles/route-table';

/** One line per route, in the order of the table. */
export function rolesToMarkdown(): string {
  const rows = Object.entries(ROUTE_TABLE).map(([route, { roles, scope, stepUp }]) => [
    `\`${route}\``,
    scope ?? '–',
    stepUp ? 'yes' : 'no',
    ...ROLES.map((role) => (roles === null || roles.includes(role) ? 'yes' : 'no')),
  ]);
  const head = ['Route', 'Scope', 'Confirm', ...ROLES];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
