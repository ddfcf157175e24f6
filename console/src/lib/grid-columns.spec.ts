import type { Column } from '../queries/catalog-types';
import { changeLayout, layoutFromText, NO_LAYOUT, SELECT_PX, shownColumns } from './grid-columns';

const column = (name: string, type = 'text', category = 'S'): Column => ({
  name,
  type,
  category,
  nullable: true,
  default: null,
  always: false,
  labels: null,
  comment: null,
});
const columns = [
  column('id', 'integer', 'N'),
  column('title'),
  column('constructor'),
  column('done', 'boolean', 'B'),
];
const namesOf = (layout = NO_LAYOUT) => shownColumns(columns, layout).map((one) => one.column.name);

it('shows pinned columns first and no hidden columns, also after columns were dropped', () => {
  const pinned = changeLayout(changeLayout(NO_LAYOUT, { type: 'pin', name: 'title' }), {
    type: 'pin',
    name: 'gone',
  });
  const layout = changeLayout(pinned, { type: 'hide', name: 'id' });
  expect(namesOf(layout)).toEqual(['title', 'constructor', 'done']);
  expect(shownColumns(columns, layout).map(({ left }) => left)).toEqual([SELECT_PX, null, null]);
  expect(namesOf(changeLayout(layout, { type: 'showAll' }))).toEqual(['title', 'id', 'constructor', 'done']);
  expect(changeLayout(layout, { type: 'hide', name: 'id' }).hidden).toEqual([]);
});

it('gives each column the width of its type until a width is chosen, which is kept within bounds', () => {
  const widthsOf = (layout = NO_LAYOUT) => shownColumns(columns, layout).map(({ width }) => width);
  const [id, title, , done] = widthsOf();
  expect([id! < title!, done! < title!]).toEqual([true, true]);
  expect(widthsOf(changeLayout(NO_LAYOUT, { type: 'width', name: 'title', width: 1 }))[1]).toBe(56);
});

it.each([undefined, '', 'null', '[]', '{"widths":{"id":"wide"},"hidden":[1],"pinned":"id"}'])(
  'reads no layout from %j',
  (text) => expect(layoutFromText(text)).toEqual(NO_LAYOUT),
);
