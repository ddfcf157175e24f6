/**
 * Composes a change and its audit entry into one statement: the entry is written if and only if the change happened,
 * in the same round trip and transaction.
 */
import { Statement } from '../../database/statement';
import { AuditEntry } from './audit-entry';

/** A change that must be audited, in parts: only withAudit() makes a statement of it. */
interface AuditableChange<Step extends string> {
  /** As Statement.name. */
  readonly name?: string;
  /** The common table expressions, by name and in order. */
  readonly steps: Readonly<Record<Step, string>>;
  /** The step whose rows are audited: one entry for each row, with the account in its column `id`. */
  readonly audited: NoInfer<Step>;
  /** The main query; it may read from every step. */
  readonly query: string;
  /** Values of the parameters $1, $2 ... in steps and query. */
  readonly values: readonly unknown[];
}

/** The columns of an entry, each with its type. */
const COLUMNS = {
  at: 'timestamptz',
  action: 'text',
  actor_id: 'uuid',
  actor_role: 'text',
  user_id: 'uuid',
  ip: 'text',
  user_agent: 'text',
  details: 'jsonb',
} as const;

/** `steps: { u: 'update ... returning id' }, query: 'select from u'` gives `with u as (...), audit as (...) select from u`. */
export function withAudit<Step extends string>(change: AuditableChange<Step>, entry: AuditEntry): Statement {
  const { name, audited, query, values } = change;
  const steps = { ...change.steps, audit: insertion(audited, values.length) };
  const expressions = Object.entries<string>(steps).map(([step, sql]) => `${step} as (${sql})`);
  return { name, text: `with ${expressions.join(', ')} ${query}`, values: [...values, ...valuesOf(entry)] };
}

/** @param parameters number of parameters of the change, which precede those of the entry */
function insertion(audited: string, parameters: number): string {
  const values = Object.entries(COLUMNS).map(([column, type], index) => {
    const parameter = `$${parameters + index + 1}::${type}`;
    return column === 'user_id' ? `coalesce(${parameter}, happened.id)` : parameter;
  });
  const columns = Object.keys(COLUMNS).join(', ');
  return `insert into auth.audit_log (${columns}) select ${values.join(', ')} from ${audited} happened`;
}

/** In the order of COLUMNS. */
function valuesOf({ action, now, origin, actorRole, actorId, userId, details = {} }: AuditEntry): unknown[] {
  return [now, action, actorId, actorRole, userId, origin.ip, origin.userAgent, JSON.stringify(details)];
}
