import type { Relation } from '../queries/catalog-types';
import { BOX_PX, edgesOf, heightOf, idOf, placesOf } from './schema-layout';

const table = (name: string, ...targets: string[]): Relation => ({
  schema: 'public',
  name,
  kind: 'table',
  comment: null,
  rows: 0,
  bytes: 0,
  rls: true,
  columns: Array.from({ length: name.length }, (_, index) => ({
    name: `c${index}`,
    type: 'text',
    category: 'S',
    nullable: true,
    default: null,
    always: false,
    labels: null,
    comment: null,
  })),
  primaryKey: [],
  foreignKeys: targets.map((target) => ({
    name: `${name} ${target}`,
    columns: ['c0'],
    schema: 'public',
    table: target,
    targets: ['c0'],
    definition: '',
  })),
  indexes: [],
  policies: [],
});

it('draws the keys between the tables, also to the table itself', () => {
  const edges = edgesOf([table('a', 'a', 'b', 'elsewhere'), table('b')]);
  expect(edges.map(({ name }) => name)).toEqual(['a a', 'a b']);
});

it('places a hundred tables without overlap', () => {
  const tables = Array.from({ length: 100 }, (_, index) =>
    table(`table ${index}`, ...(index % 3 === 0 ? [] : [`table ${Math.floor(index / 2)}`])),
  );
  const places = placesOf(tables);
  const boxes = tables.map((one) => ({ ...places.get(idOf(one))!, height: heightOf(one) }));
  const overlaps = boxes.flatMap((one, index) =>
    boxes
      .slice(index + 1)
      .filter(
        (other) =>
          Math.abs(one.x - other.x) < BOX_PX &&
          one.y < other.y + other.height &&
          other.y < one.y + one.height,
      ),
  );
  expect(boxes).toHaveLength(100);
  expect(overlaps).toEqual([]);
});

it('arranges 300 tables without keys in the shape of a window', () => {
  const tables = Array.from({ length: 300 }, (_, index) => table(`t${index}`));
  const places = [...placesOf(tables).values()];
  const width = Math.max(...places.map(({ x }) => x)) + BOX_PX;
  const height = Math.max(...places.map(({ y }) => y)) + heightOf(tables[0]!);
  expect(width / height).toBeGreaterThan(1.4);
  expect(width / height).toBeLessThan(2.2);
});
