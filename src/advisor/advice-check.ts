/**
 * A check of the advisor: a query over the catalogs of a project's database, and the meaning of its rows. The names in the
 * rows are the owner's choice, and so is their number: each check is bounded, and quotes what it puts into SQL.
 */
import { createHash } from 'node:crypto';
import { type Reason, reasonText, type ReasonValues } from './reasons';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Findings of one check that are reported. */
export const MAX_FINDINGS = 50;

export interface Finding {
  readonly severity: Severity;
  /** Names of the object, for its id and for display: schema, table, column. */
  readonly names: readonly string[];
  /** The problem and its consequences. */
  readonly reason: Reason;
  readonly values?: ReasonValues;
  /** SQL that fixes the problem; null where the fix requires a decision. */
  readonly sql: string | null;
}

export interface AdviceCheck<Row = never> {
  readonly name: string;
  /** Selects at most MAX_FINDINGS + 1 rows. Runs as the owner with an empty search_path. */
  readonly text: string;
  readonly toFinding: (row: Row) => Finding;
}

export interface Advice extends Omit<Finding, 'values'> {
  /** Stays the same for the same problem of the same object. */
  readonly id: string;
  readonly check: string;
  readonly values: Readonly<Record<string, string>>;
  /** The reason in English. */
  readonly why: string;
}

export function toAdvice(check: string, finding: Finding): Advice {
  const hash = createHash('sha256').update(JSON.stringify(finding.names)).digest('hex');
  const { reason } = finding;
  const values = Object.fromEntries(
    Object.entries(finding.values ?? {}).map(([name, value]) => [name, String(value)]),
  );
  return { ...finding, values, why: reasonText(reason, values), check, id: `${check}-${hash.slice(0, 16)}` };
}

/** The form of ids. */
export const ADVICE_ID = /^([a-z_]{1,40})-[0-9a-f]{16}$/;

/** Schemas of PostgreSQL and of Plinth, for a condition on pg_namespace `n`. */
export const OWN_SCHEMAS = `n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'auth', 'storage', 'extensions', 'plinth', 'plinth_migrations')`;

export const LIMIT = `limit ${MAX_FINDINGS + 1}`;
