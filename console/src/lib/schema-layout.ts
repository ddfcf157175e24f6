/**
 * Positions of tables in the picture of a schema, with referenced tables to the left of the tables that refer to them.
 * Pure.
 */
import { Graph, layout } from '@dagrejs/dagre';
import type { Relation } from '../queries/catalog-types';

export const BOX_PX = 230;
export const HEAD_PX = 30;
export const LINE_PX = 20;
/** Columns of a box; its last line counts the other columns. */
export const SHOWN_COLUMNS = 12;
/** Ratio of width to height for the rows of tables without foreign keys, as in a window. */
const ASPECT = 1.8;
const GAP_PX = 40;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

type Drawn = Pick<Relation, 'schema' | 'name' | 'columns' | 'foreignKeys'>;

export function idOf({ schema, name }: Pick<Relation, 'schema' | 'name'>): string {
  return JSON.stringify([schema, name]);
}

export function heightOf({ columns }: Pick<Relation, 'columns'>): number {
  const lines = Math.min(columns.length, SHOWN_COLUMNS) + (columns.length > SHOWN_COLUMNS ? 1 : 0);
  return HEAD_PX + lines * LINE_PX + 6;
}

/** Foreign keys between the drawn tables. */
export function edgesOf(relations: readonly Drawn[]): Edge[] {
  const drawn = new Set(relations.map(idOf));
  return relations.flatMap((relation) =>
    relation.foreignKeys
      .map(({ name, schema, table }) => ({
        name,
        from: idOf(relation),
        to: idOf({ schema, name: table }),
      }))
      .filter(({ to }) => drawn.has(to)),
  );
}

/** The top left corner of each table. */
export function placesOf(relations: readonly Drawn[]): ReadonlyMap<string, Point> {
  const edges = edgesOf(relations).filter(({ from, to }) => from !== to);
  const linked = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: GAP_PX, ranksep: 2 * GAP_PX });
  graph.setDefaultEdgeLabel(() => ({}));
  const joined = relations.filter((one) => linked.has(idOf(one)));
  for (const one of joined) graph.setNode(idOf(one), { width: BOX_PX, height: heightOf(one) });
  for (const { from, to } of edges) graph.setEdge(to, from);
  layout(graph);
  const places = new Map<string, Point>();
  let bottom = 0;
  for (const one of joined) {
    const { x, y } = graph.node(idOf(one)) as Point;
    const height = heightOf(one);
    places.set(idOf(one), { x: x - BOX_PX / 2, y: y - height / 2 });
    bottom = Math.max(bottom, y + height / 2 + GAP_PX);
  }
  const alone = relations.filter((one) => !linked.has(idOf(one)));
  const columns = columnsOf(alone);
  for (let start = 0; start < alone.length; start += columns) {
    const row = alone.slice(start, start + columns);
    row.forEach((one, index) => places.set(idOf(one), { x: index * (BOX_PX + GAP_PX), y: bottom }));
    bottom += Math.max(...row.map(heightOf)) + GAP_PX;
  }
  return places;
}

/** Number of tables in a row, so that all rows together have the shape of a window. */
function columnsOf(tables: readonly Drawn[]): number {
  const height = tables.reduce((sum, one) => sum + heightOf(one) + GAP_PX, 0);
  return Math.max(1, Math.round(Math.sqrt((height * ASPECT) / (BOX_PX + GAP_PX))));
}
