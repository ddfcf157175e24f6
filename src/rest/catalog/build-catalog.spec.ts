import { EXAMPLE_ROWS } from '../../../test/support/example-catalog';
import { buildCatalog } from './build-catalog';
import { nameKey } from './catalog';

const COPIES = 3_000;

/** Many copies of the example schema, each in its own schema. */
function manyRelations(): typeof EXAMPLE_ROWS {
  const relations = Array.from({ length: COPIES }, (_, copy) =>
    EXAMPLE_ROWS.relations.map((row) => ({ ...row, oid: `${row.oid}${copy}`, schema: `copy_${copy}` })),
  ).flat();
  return { ...EXAMPLE_ROWS, relations, constraints: [], routines: [] };
}

it('yields to other work while a catalog of thousands of tables is built', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const catalog = await buildCatalog(manyRelations());
  isOver = true;
  expect(catalog.relations.size).toBe(COPIES * EXAMPLE_ROWS.relations.length);
  const [first] = EXAMPLE_ROWS.relations;
  expect(catalog.relations.has(nameKey({ schema: 'copy_7', name: first?.name ?? '' }))).toBe(true);
  expect(turns).toBeGreaterThan(3);
});
