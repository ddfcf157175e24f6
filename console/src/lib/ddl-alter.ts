/** The SQL of changes to the columns, keys and indexes of a table. It is shown before it runs. Pure. */
import type { Column, ForeignKey } from '../queries/catalog-types';
import { identifier, literal, qualified } from './sql-text';

interface Table {
  readonly schema: string;
  readonly name: string;
}

/** A column as a form describes it. An empty default or comment means none. */
interface ColumnDraft {
  readonly type: string;
  readonly default: string;
  readonly nullable: boolean;
  readonly comment: string;
}

export function draftOfColumn({ type, default: value, nullable, comment }: Column): ColumnDraft {
  return { type, default: value ?? '', nullable, comment: comment ?? '' };
}

/** Null if the draft changes nothing. */
export function alterColumnSql(table: Table, column: Column, draft: ColumnDraft): string | null {
  const name = identifier(column.name);
  const before = draftOfColumn(column);
  const hasNewType = draft.type.trim() !== '' && draft.type !== before.type;
  const hasNewDefault = draft.default !== before.default;
  const actions: string[] = [];
  // A default of the old type may not fit the new type, so it is dropped first and set again last.
  if (hasNewType && before.default !== '') actions.push(`alter column ${name} drop default`);
  if (hasNewType) actions.push(`alter column ${name} type ${draft.type} using ${name}::text::${draft.type}`);
  if (draft.default !== '' && (hasNewDefault || hasNewType))
    actions.push(`alter column ${name} set default ${draft.default}`);
  else if (hasNewDefault && !hasNewType) actions.push(`alter column ${name} drop default`);
  if (draft.nullable !== before.nullable)
    actions.push(`alter column ${name} ${draft.nullable ? 'drop' : 'set'} not null`);
  const target = qualified(table.schema, table.name);
  const statements = actions.length > 0 ? [`alter table ${target}\n  ${actions.join(',\n  ')};`] : [];
  if (draft.comment !== before.comment) {
    const text = draft.comment === '' ? 'null' : literal(draft.comment);
    statements.push(`comment on column ${target}.${name} is ${text};`);
  }
  return statements.length > 0 ? statements.join('\n\n') : null;
}

export const INDEX_METHODS = ['btree', 'gin', 'gist', 'brin', 'hash'] as const;

export interface IndexDraft {
  readonly columns: readonly string[];
  readonly unique: boolean;
  readonly method: (typeof INDEX_METHODS)[number];
  /** Condition of a partial index; empty for all rows. */
  readonly where: string;
  /** True to build the index without blocking writers, which is not possible in a transaction. */
  readonly concurrently: boolean;
}

/** Null while no column is chosen. */
export function addIndexSql({ schema, name }: Table, draft: IndexDraft): string | null {
  const { columns, unique, method, where, concurrently } = draft;
  if (columns.length === 0) return null;
  const kind = `${unique ? 'unique ' : ''}index${concurrently ? ' concurrently' : ''}`;
  const using = method === 'btree' ? '' : ` using ${method}`;
  const list = columns.map(identifier).join(', ');
  const condition = where.trim() === '' ? '' : `\n  where ${where.trim()}`;
  return `create ${kind} on ${qualified(schema, name)}${using} (${list})${condition};`;
}

/** @param constraint the constraint that the index belongs to, which has to be dropped instead */
export function dropIndexSql({ schema, name }: Table, index: string, constraint: string | null): string {
  return constraint === null
    ? `drop index ${qualified(schema, index)};`
    : dropConstraintSql({ schema, name }, constraint);
}

/**
 * Both statements run in one transaction, so the index is never missing. If only the name changed, the index is
 * renamed.
 * @param next the name, and the statement that creates the index
 * @returns null if nothing is changed
 */
export function changeIndexSql(
  { schema, name }: Table,
  index: { readonly name: string; readonly definition: string; readonly constraint: string | null },
  next: { readonly name: string; readonly definition: string },
): string | null {
  const statements: string[] = [];
  const definition = next.definition.trim().replace(/;+$/, '');
  if (definition === '' || next.name === '') return null;
  if (index.constraint === null && definition !== index.definition)
    statements.push(dropIndexSql({ schema, name }, index.name, null), `${definition};`);
  if (next.name !== index.name)
    statements.push(
      index.constraint === null
        ? `alter index ${qualified(schema, index.name)} rename to ${identifier(next.name)};`
        : renameConstraintSql({ schema, name }, index.constraint, next.name),
    );
  return statements.length === 0 ? null : statements.join('\n\n');
}

const renameConstraintSql = ({ schema, name }: Table, from: string, to: string): string =>
  `alter table ${qualified(schema, name)}\n  rename constraint ${identifier(from)} to ${identifier(to)};`;

export const ON_DELETE = ['no action', 'cascade', 'set null', 'restrict', 'set default'] as const;
type OnDelete = (typeof ON_DELETE)[number];

/** The clauses after the columns of the target, in the order in which PostgreSQL prints them. */
const CLAUSES =
  /\)( MATCH FULL)?( ON UPDATE (?:CASCADE|RESTRICT|SET NULL|SET DEFAULT))?(?: ON DELETE (CASCADE|RESTRICT|SET NULL|SET DEFAULT)( \([^)]*\))?)?((?: DEFERRABLE)?(?: INITIALLY DEFERRED)?(?: NOT VALID| NOT ENFORCED)?)$/;

export function clausesOf({ definition }: Pick<ForeignKey, 'definition'>) {
  const [, match = '', onUpdate = '', onDelete = 'no action', columns = '', after = ''] =
    CLAUSES.exec(definition) ?? [];
  return {
    onDelete: onDelete.toLowerCase() as OnDelete,
    before: `${match}${onUpdate}`.toLowerCase(),
    columns,
    after: after.toLowerCase(),
  };
}

export interface ForeignKeyTarget {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
}

const list = (names: readonly string[]): string => names.map(identifier).join(', ');

/** `references "public"."authors" ("id") on delete cascade` */
export function referenceSql(
  { schema, table, columns }: ForeignKeyTarget,
  onDelete: OnDelete,
  kept = { onDelete, before: '', columns: '', after: '' },
): string {
  // The columns that `set null` names belong to this action.
  const action = `${onDelete}${onDelete === kept.onDelete ? kept.columns : ''}`;
  const clauses = `${kept.before}${onDelete === 'no action' ? '' : ` on delete ${action}`}${kept.after}`;
  return `references ${qualified(schema, table)} (${list(columns)})${clauses}`;
}

/**
 * One statement drops the key and adds it again. It checks the rows, and no row without a target can be inserted. A changed name
 * alone renames it in place.
 * @returns null if nothing is changed
 */
export function changeForeignKeySql(
  table: Table,
  key: ForeignKey,
  next: { readonly name: string; readonly target: ForeignKeyTarget; readonly onDelete: OnDelete },
): string | null {
  const kept = clausesOf(key);
  const reference = referenceSql(next.target, next.onDelete, kept);
  if (next.name === '') return null;
  if (reference === referenceSql(targetOf(key), kept.onDelete, kept))
    return next.name === key.name ? null : renameConstraintSql(table, key.name, next.name);
  return `alter table ${qualified(table.schema, table.name)}
  drop constraint ${identifier(key.name)},
  add constraint ${identifier(next.name)} foreign key (${list(key.columns)})
    ${reference};`;
}

export const targetOf = ({ schema, table, targets }: ForeignKey): ForeignKeyTarget => ({
  schema,
  table,
  columns: targets,
});

export function dropConstraintSql({ schema, name }: Table, constraint: string): string {
  return `alter table ${qualified(schema, name)}\n  drop constraint ${identifier(constraint)};`;
}

/** Null while no column is chosen. */
export function addPrimaryKeySql({ schema, name }: Table, columns: readonly string[]): string | null {
  if (columns.length === 0) return null;
  return `alter table ${qualified(schema, name)}\n  add primary key (${columns.map(identifier).join(', ')});`;
}

export interface ForeignKeyDraft {
  readonly column: string | null;
  readonly target: ForeignKeyTarget | null;
  readonly onDelete: OnDelete;
  /** True to add an index on the column. Without an index, every deletion in the other table reads this table. */
  readonly withIndex: boolean;
}

/** Null while the column or its target is not chosen. */
export function addForeignKeySql({ schema, name }: Table, draft: ForeignKeyDraft): string | null {
  const { column, target, onDelete, withIndex } = draft;
  if (column === null || target === null) return null;
  const table = qualified(schema, name);
  const key = `alter table ${table}\n  add foreign key (${identifier(column)}) ${referenceSql(target, onDelete)};`;
  return withIndex ? `${key}\n\ncreate index on ${table} (${identifier(column)});` : key;
}
