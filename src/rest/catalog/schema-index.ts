/**
 * Relations, constraints and view columns by oid, while a catalog is built. Keys of views are traced to the
 * tables that their columns come from, through views over views.
 */
import type { QualifiedName } from './catalog';
import type { CatalogRows, ConstraintRow, RelationRow } from './catalog-rows';
import type { ColumnOrigin } from './view-origins';

/** A table's key columns as a view shows them: for each key column, the names that the view gives it. */
export interface ViewKey {
  readonly view: string;
  readonly columns: readonly (readonly string[])[];
}

/** Limit for combinations of view columns for one key: a view may show a column several times. */
const MAX_COMBINATIONS = 16;

export class SchemaIndex {
  readonly relations = new Map<string, RelationRow>();
  constraints: readonly ConstraintRow[] = [];
  /** Column names by relation and position. */
  private readonly columnNames = new Map<string, Map<number, string>>();
  /** View columns by base table and column: `table oid` to `position` to view oid to names. */
  private readonly shownBy = new Map<string, Map<number, Map<string, string[]>>>();
  private readonly origins = new Map<string, readonly ColumnOrigin[]>();
  private readonly constraintsByRelation = new Map<string, ConstraintRow[]>();
  private readonly viewPrimaryKeys = new Map<string, string[]>();

  /** Call it once, before all other methods. It yields to the event loop between its steps. */
  *fill({ relations, views, constraints }: CatalogRows): Generator<void, void> {
    this.constraints = constraints;
    for (const row of relations) {
      this.relations.set(row.oid, row);
      this.columnNames.set(row.oid, new Map((row.columns ?? []).map(([position, name]) => [position, name])));
      yield;
    }
    for (const [view, columns] of views) this.origins.set(view, columns);
    for (const [view, columns] of this.origins) {
      for (const origin of columns) this.trace(view, origin.position, origin, new Set([view]));
      yield;
    }
    for (const row of constraints) {
      this.addConstraint(row);
      yield;
    }
  }

  /** Null for an oid that was not read, such as one of PostgreSQL's own relations. */
  nameOf(oid: string): QualifiedName | null {
    const row = this.relations.get(oid);
    return row ? { schema: row.schema, name: row.name } : null;
  }

  isView(oid: string): boolean {
    const kind = this.relations.get(oid)?.kind;
    return kind === 'v' || kind === 'm';
  }

  /** Names of columns; null when one of them is missing. */
  namesOf(oid: string, positions: readonly number[]): string[] | null {
    const names = positions.map((position) => this.columnNames.get(oid)?.get(position));
    return names.every((name): name is string => name !== undefined) ? names : null;
  }

  constraintsOf(oid: string): readonly ConstraintRow[] {
    return this.constraintsByRelation.get(oid) ?? [];
  }

  /** A table's own primary key; for a view, the key of its base table if the view shows all columns of the key. */
  primaryKeyOf(oid: string): string[] {
    const own = this.constraintsOf(oid).find(({ type }) => type === 'p');
    return own ? (this.namesOf(oid, own.columns) ?? []) : (this.viewPrimaryKeys.get(oid) ?? []);
  }

  private addConstraint(row: ConstraintRow): void {
    const list = this.constraintsByRelation.get(row.relation);
    if (list) list.push(row);
    else this.constraintsByRelation.set(row.relation, [row]);
    if (row.type !== 'p') return;
    for (const { view, columns } of this.viewsShowing(row.relation, row.columns)) {
      const names = columns.flatMap(([first]) => first ?? []);
      this.viewPrimaryKeys.set(view, [...(this.viewPrimaryKeys.get(view) ?? []), ...names]);
    }
  }

  /** The views that show all of the given columns of a table. */
  viewsShowing(table: string, positions: readonly number[]): ViewKey[] {
    const byColumn = positions.map((position) => this.shownBy.get(table)?.get(position));
    const [first] = byColumn;
    if (!first) return [];
    return [...first.keys()].flatMap((view) => {
      const columns = byColumn.map((views) => views?.get(view));
      return columns.every((names): names is string[] => names !== undefined) ? [{ view, columns }] : [];
    });
  }

  private trace(view: string, position: number, origin: ColumnOrigin, path: ReadonlySet<string>): void {
    const name = this.columnNames.get(view)?.get(position);
    if (name === undefined) return;
    let columns = this.shownBy.get(origin.relation);
    if (!columns) this.shownBy.set(origin.relation, (columns = new Map<number, Map<string, string[]>>()));
    let views = columns.get(origin.column);
    if (!views) columns.set(origin.column, (views = new Map<string, string[]>()));
    const names = views.get(view) ?? [];
    if (!names.includes(name)) views.set(view, [...names, name]);
    if (path.has(origin.relation)) return;
    const next = this.origins.get(origin.relation)?.find((one) => one.position === origin.column);
    if (next) this.trace(view, position, next, new Set([...path, origin.relation]));
  }
}

/** All combinations with one name per column. */
export function combinations(columns: readonly (readonly string[])[]): string[][] {
  let all: string[][] = [[]];
  for (const names of columns) {
    all = all.flatMap((taken) => names.map((name) => [...taken, name])).slice(0, MAX_COMBINATIONS);
  }
  return all;
}
