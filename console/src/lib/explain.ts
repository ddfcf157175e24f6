/** A plan of PostgreSQL (`explain (format json)`) as a tree with the share of each node. Pure. */

export interface PlanNode {
  readonly title: string;
  readonly detail: string;
  readonly rows: number;
  /** True if the planner was wrong about the rows by ten times or more. */
  readonly isMisjudged: boolean;
  /** Rows that the node returned; null without ANALYZE. */
  readonly actualRows: number | null;
  /** Milliseconds of the node without its children; null without ANALYZE. */
  readonly ms: number | null;
  /** Share of the total, 0 to 1, in the measured time or else in the estimated cost. */
  readonly share: number;
  readonly children: readonly PlanNode[];
}

type Raw = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Raw[] };

export interface QueryPlan {
  readonly root: PlanNode;
  /** Milliseconds; null without ANALYZE. */
  readonly planning: number | null;
  readonly execution: number | null;
}

/** @param rows the rows that the statement returned @returns null if it is not a plan in JSON */
export function planOf(rows: readonly Readonly<Record<string, unknown>>[]): QueryPlan | null {
  const cell = rows[0]?.['QUERY PLAN'];
  const [parsed] = (Array.isArray(cell) ? cell : typeof cell === 'string' ? parsedPlan(cell) : []) as Raw[];
  const root = parsed?.['Plan'] as Raw | undefined;
  if (!root) return null;
  const numberOf = (name: string): number | null =>
    typeof parsed?.[name] === 'number' ? parsed[name] : null;
  return {
    root: toNode(root, weightOf(root)),
    planning: numberOf('Planning Time'),
    execution: numberOf('Execution Time'),
  };
}

/** In other formats, the first row is a line of text. */
function parsedPlan(cell: string): unknown[] {
  try {
    const parsed = JSON.parse(cell) as unknown;
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
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
  const rows = Number(raw['Plan Rows'] ?? 0);
  // Rows per loop, like the estimate.
  const found = Number(raw['Actual Rows'] ?? 0);
  return {
    title: [text('Node Type'), ...relation.filter(Boolean)].join(' · '),
    detail: conditions.flatMap((name) => (text(name) ? [`${name}: ${text(name)}`] : [])).join('\n'),
    rows,
    isMisjudged: isMeasured && Math.max(found, rows) >= 10 * Math.max(1, Math.min(found, rows)),
    actualRows: isMeasured ? found * Number(raw['Actual Loops'] ?? 1) : null,
    ms: isMeasured ? own : null,
    share: whole === 0 ? 0 : own / whole,
    children: children.map((child) => toNode(child, whole)),
  };
}
