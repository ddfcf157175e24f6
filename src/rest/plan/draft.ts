/**
 * The tree of embeds while it is being planned: what `select` asks for, with relationships found, and then what the
 * other parameters say about each level. plan-read.ts makes the finished plan of it.
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
import { notEmbedded } from '../rest.errors';
import { embeddedTwice } from './embed.errors';
import { findRelationship } from './find-relationship';
import { findRelation, type PlanContext } from './plan-context';
import type { FieldPlan, RenamedEmbed } from './plan';
import type { RowType } from './resolve-field';

export interface Draft {
  /** SQL alias of the level's rows: `plinth_0` for the root. */
  readonly alias: string;
  readonly row: RowType;
  /** The relation whose relationships start here; null for rows of no relation. */
  readonly relation: QualifiedName | null;
  readonly select: readonly SelectItem[];
  readonly embeds: DraftEmbed[];
  readonly where: LogicTree[];
  order: readonly OrderTerm[];
  window: Window;
  /** Values that the parent orders by. */
  readonly parentColumns: FieldPlan[];
}

export interface DraftEmbed {
  readonly item: SelectEmbed | SelectSpread;
  /** What paths call it: its alias, or else its relation. */
  readonly name: string;
  readonly relationship: Relationship;
  readonly toOne: boolean;
  readonly draft: Draft;
  /** Whether a parameter's path calls it by its relation although it has an alias. */
  isNamedByRelation: boolean;
}

const EVERYTHING: Window = { limit: null, offset: 0 };

/** @throws AppError PL200, PL201, 42712 */
export function draftOf(
  context: PlanContext,
  row: RowType,
  relation: QualifiedName | null,
  select: readonly SelectItem[],
): Draft {
  let aliases = 0;
  const level = (
    ofRow: RowType,
    ofRelation: QualifiedName | null,
    asked: readonly SelectItem[],
    depth: number,
  ): Draft => {
    const items = asked.map((item) => withPlainCount(ofRow, item));
    const alias = `plinth_${aliases}`;
    aliases += 1;
    const embeds = items.flatMap((item): DraftEmbed[] => {
      if (item.kind !== 'embed' && item.kind !== 'spread') return [];
      const origin = ofRelation ?? { schema: context.schema, name: ofRow.name };
      const relationship = findRelationship(context, origin, item.relation, item.hint);
      return [
        {
          item,
          name: item.kind === 'embed' ? (item.alias ?? item.relation) : item.relation,
          relationship,
          toOne: isToOne(relationship),
          draft: level(
            embeddedRow(context, relationship, depth + 1),
            relationship.to,
            item.select,
            depth + 1,
          ),
          isNamedByRelation: false,
        },
      ];
    });
    assertDifferent(embeds, ofRelation?.name ?? ofRow.name, depth + 1);
    return {
      alias,
      row: ofRow,
      relation: ofRelation,
      select: items,
      embeds,
      where: [],
      order: [],
      window: EVERYTHING,
      parentColumns: [],
    };
  };
  return level(row, relation, select, 0);
}

/** An embed's row, called as PostgREST's SQL calls it, which messages of columns show. */
function embeddedRow(context: PlanContext, { kind, to }: Relationship, depth: number): RowType {
  const { columns, computed } = rowOf(context, to);
  // Only the far table of a junction stands there without an alias.
  return { name: kind === 'many-to-many' ? to.name : `${to.name}_${depth}`, columns, computed };
}

/** @throws AppError 42712 for two embeds of one level that have the same name */
function assertDifferent(embeds: readonly DraftEmbed[], from: string, depth: number): void {
  const names = new Set<string>();
  for (const { name } of embeds) {
    if (names.has(name)) throw embeddedTwice(from, name, depth);
    names.add(name);
  }
}

/**
 * `count` without parentheses, where no column is called so, counts rows all the same: PostgREST's way before it had
 * aggregates, and what many clients still send. Example: `/clients?select=name,projects(count)`
 */
function withPlainCount(row: RowType, item: SelectItem): SelectItem {
  if (item.kind !== 'field' || item.field.name !== 'count' || item.field.path.length > 0) return item;
  if (item.aggregate !== null || row.columns.has('count') || row.computed.has('count')) return item;
  return { kind: 'row-count', cast: item.cast, alias: item.alias };
}

/** The row type of a relation that the catalog names. */
export function rowOf(context: PlanContext, name: QualifiedName): RowType {
  const relation = findRelation(context, name);
  return relation ?? { name: name.name, columns: new Map(), computed: new Map() };
}

export interface AttachOptions {
  /** False for writes: the root's filters choose the rows to write, not those to return. */
  readonly rootFilters: boolean;
  /** The root's, with the Range header in it; null for writes, which have none. */
  readonly rootWindow: Window | null;
}

/** Hangs filters, orders and windows on the levels that they name. @throws AppError PL108 */
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

/** By alias; by the relation's name where that has an alias too, as PostgREST allowed before it had aliases here. */
export function findEmbed({ embeds }: Draft, name: string): DraftEmbed | undefined {
  return embeds.find((one) => one.name === name) ?? embeds.find(({ item }) => item.relation === name);
}

/** The embeds that a path calls by their relation although they have an alias; PostgREST will not understand it for ever. */
export function renamedEmbeds({ embeds }: Draft): RenamedEmbed[] {
  return embeds.flatMap(({ item, name, draft, isNamedByRelation }) => [
    ...(isNamedByRelation ? [{ relation: item.relation, alias: name }] : []),
    ...renamedEmbeds(draft),
  ]);
}
