/** A plan of PostgreSQL (`explain (format json)`) as a tree with the share of each node. Pure. */

export interface PlanNode {
  readonly title: string;
  readonly detail: string;
  readonly rows: number;
  /** Rows that the node really gave; null without ANALYZE. */
  readonly actualRows: number | null;
  /** Milliseconds of the node without its children; null without ANALYZE. */
  readonly ms: number | null;
  /** Part of the whole, 0 to 1: of the time if it was measured, else of the estimated cost. */
  readonly share: number;
  readonly children: readonly PlanNode[];
}

type Raw = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Raw[] };

/** @param rows the answer of the statement; null if it is no plan */
export function planOf(rows: readonly Readonly<Record<string, unknown>>[]): PlanNode | null {
  const cell = rows[0]?.['QUERY PLAN'];
  const parsed = (typeof cell === 'string' ? JSON.parse(cell) : cell) as { Plan?: Raw }[] | undefined;
  const root = parsed?.[0]?.Plan;
  return root ? toNode(root, weightOf(root)) : null;
}

/** The weight of a node with its children. */
function weightOf(raw: Raw): number {
  const time = raw['Actual Total Time'];
  return typeof time === 'number' ? time * Number(raw['Actual Loops'] ?? 1) : Number(raw['Total Cost'] ?? 0);
}

function toNode(raw: Raw, whole: number): PlanNode {
  const children = raw.Plans ?? [];
  const own = Math.max(0, weightOf(raw) - children.reduce((sum, child) => sum + weightOf(child), 0));
  const isMeasured = typeof raw['Actual Total Time'] === 'number';
  const text = (name: string): string | null => (typeof raw[name] === 'string' ? raw[name] : null);
  const conditions = ['Index Cond', 'Filter', 'Hash Cond', 'Merge Cond', 'Recheck Cond', 'Join Filter'];
  const relation = [text('Relation Name') ?? text('CTE Name') ?? text('Function Name'), text('Index Name')];
  return {
    title: [text('Node Type'), ...relation.filter(Boolean)].join(' · '),
    detail: conditions.flatMap((name) => (text(name) ? [`${name}: ${text(name)}`] : [])).join('\n'),
    rows: Number(raw['Plan Rows'] ?? 0),
    actualRows: isMeasured ? Number(raw['Actual Rows'] ?? 0) * Number(raw['Actual Loops'] ?? 1) : null,
    ms: isMeasured ? own : null,
    share: whole === 0 ? 0 : own / whole,
    children: children.map((child) => toNode(child, whole)),
  };
}
