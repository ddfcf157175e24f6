/**
 * The tree of embeds during planning: the levels of `select` with their relationships, to which the filters,
 * orders and windows of each level are added. plan-read.ts turns it into the finished plan.
 */
import { isToOne, type QualifiedName, type Relationship } from '../catalog/catalog';
import type {
  EmbedPath,
  LogicTree,
  OrderTerm,
  RestQuery,
  SelectEmbed,
  SelectItem,
  SelectSpread,
  Window,
} from '../grammar/tree';
import { WHOLE } from '../grammar/window';
import { notEmbedded } from '../rest.errors';
import { embeddedTwice, findRelationship } from './find-relationship';
import { findRelation, type PlanContext, type RowType } from './plan-context';
import type { FieldPlan, RenamedEmbed } from './plan';

export interface Draft {
  /** SQL alias of the level's rows: `plinth_0` for the root. */
  readonly alias: string;
  readonly row: RowType;
  /** The relation at which the relationships of embeds start; null for rows without a relation. */
  readonly relation: QualifiedName | null;
  readonly select: readonly SelectItem[];
  readonly embeds: DraftEmbed[];
  readonly where: LogicTree[];
  order: readonly OrderTerm[];
  window: Window;
  /** Columns by which the parent orders its rows. */
  readonly parentColumns: FieldPlan[];
}

export interface DraftEmbed {
  readonly item: SelectEmbed | SelectSpread;
  /** The name in paths: the alias, or else the name of the relation. */
  readonly name: string;
  readonly relationship: Relationship;
  readonly toOne: boolean;
  readonly draft: Draft;
  /** True if a parameter's path uses the name of the relation although the embed has an alias. */
  isNamedByRelation: boolean;
}

/** @throws AppError PL200 or PL201 for an embed without or with several relationships, 42712 for two embeds with the same name */
export function draftOf(
  context: PlanContext,
  row: RowType,
  relation: QualifiedName | null,
  select: readonly SelectItem[],
): Draft {
  let aliases = 0;
  const nextAlias = (): string => `plinth_${aliases++}`;
  return draftLevel({ context, nextAlias }, { row, relation, select, depth: 0 });
}

interface Drafting {
  readonly context: PlanContext;
  readonly nextAlias: () => string;
}

interface Level extends Pick<Draft, 'row' | 'relation' | 'select'> {
  /** The level in the tree; 0 for the root. */
  readonly depth: number;
}

function draftLevel(drafting: Drafting, { row, relation, select, depth }: Level): Draft {
  const items = select.map((item) => withPlainCount(row, item));
  const alias = drafting.nextAlias();
  const origin = relation ?? { schema: drafting.context.schema, name: row.name };
  const embeds = items.flatMap((item) =>
    item.kind === 'embed' || item.kind === 'spread' ? [draftEmbed(drafting, origin, item, depth + 1)] : [],
  );
  assertDistinctNames(embeds, relation?.name ?? row.name, depth + 1);
  return {
    alias,
    row,
    relation,
    select: items,
    embeds,
    where: [],
    order: [],
    window: WHOLE,
    parentColumns: [],
  };
}

function draftEmbed(
  drafting: Drafting,
  origin: QualifiedName,
  item: SelectEmbed | SelectSpread,
  depth: number,
): DraftEmbed {
  const relationship = findRelationship(drafting.context, origin, item.relation, item.hint);
  const row = embeddedRow(drafting.context, relationship, depth);
  return {
    item,
    name: item.kind === 'embed' ? (item.alias ?? item.relation) : item.relation,
    relationship,
    toOne: isToOne(relationship),
    draft: draftLevel(drafting, { row, relation: relationship.to, select: item.select, depth }),
    isNamedByRelation: false,
  };
}

/** The row of an embed, with the alias of PostgREST's SQL, because error messages about columns show it. */
function embeddedRow(context: PlanContext, { kind, to }: Relationship, depth: number): RowType {
  const { columns, computed } = rowOf(context, to);
  // PostgREST gives every embedded table an alias, except the far table of a junction.
  return { name: kind === 'many-to-many' ? to.name : `${to.name}_${depth}`, columns, computed };
}

/** @throws AppError 42712 for two embeds with the same name on one level */
function assertDistinctNames(embeds: readonly DraftEmbed[], from: string, depth: number): void {
  const names = new Set<string>();
  for (const { name } of embeds) {
    if (names.has(name)) throw embeddedTwice(from, name, depth);
    names.add(name);
  }
}

/**
 * `count` without parentheses counts rows if no column has that name: PostgREST's syntax before it had
 * aggregates, which many clients still send.
 * Example: `/clients?select=name,projects(count)`
 */
function withPlainCount(row: RowType, item: SelectItem): SelectItem {
  if (item.kind !== 'field' || item.field.name !== 'count' || item.field.path.length > 0) return item;
  if (item.aggregate !== null || row.columns.has('count') || row.computed.has('count')) return item;
  return { kind: 'row-count', cast: item.cast, alias: item.alias };
}

/** The row type of a relation of the catalog. */
export function rowOf(context: PlanContext, name: QualifiedName): RowType {
  const relation = findRelation(context, name);
  return relation ?? { name: name.name, columns: new Map(), computed: new Map() };
}

export interface AttachOptions {
  /** False for writes: the root's filters then select the rows to write, not the rows to return. */
  readonly rootFilters: boolean;
  /** The root's window, intersected with the Range header; null for writes, which have none. */
  readonly rootWindow: Window | null;
}

/** Adds filters, orders and windows to the levels that their paths name. @throws AppError PL108 for a path that names no embed */
export function attach(root: Draft, query: RestQuery, { rootFilters, rootWindow }: AttachOptions): void {
  for (const { path, node } of [...query.filters, ...query.logic]) {
    if (path.length > 0 || rootFilters) levelAt(root, path).where.push(node);
  }
  for (const { path, node } of query.order) levelAt(root, path).order = node;
  for (const { path, node } of query.windows) {
    if (path.length > 0) levelAt(root, path).window = node;
  }
  if (rootWindow) root.window = rootWindow;
}

function levelAt(root: Draft, path: EmbedPath): Draft {
  let level = root;
  for (const name of path) {
    const embed = findEmbed(level, name);
    if (!embed) throw notEmbedded(name);
    if (embed.name !== name) embed.isNamedByRelation = true;
    level = embed.draft;
  }
  return level;
}

/** Finds an embed by its alias, or by its relation's name, which PostgREST still accepts if there is an alias. */
export function findEmbed({ embeds }: Pick<Draft, 'embeds'>, name: string): DraftEmbed | undefined {
  return embeds.find((one) => one.name === name) ?? embeds.find(({ item }) => item.relation === name);
}

/** Embeds that a path names by their relation although they have an alias, which PostgREST deprecates. */
export function renamedEmbeds({ embeds }: Draft): RenamedEmbed[] {
  return embeds.flatMap(({ item, name, draft, isNamedByRelation }) => [
    ...(isNamedByRelation ? [{ relation: item.relation, alias: name }] : []),
    ...renamedEmbeds(draft),
  ]);
}
