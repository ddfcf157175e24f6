import {
  change,
  changeCells,
  changeInserted,
  countOf,
  insert,
  keyOf,
  NO_CHANGES,
  removeInserted,
  saved,
  toggleDelete,
  undo,
} from './pending-changes';

const row = { id: '1', name: 'Ada' };
const key = keyOf(['id'], row);

it('collects the changes of a row, and drops one that restores the stored value', () => {
  const once = change(NO_CHANGES, key, row, { name: 'Grace' });
  expect([...once.updates.values()]).toEqual([{ row, values: { name: 'Grace' } }]);
  expect(countOf(change(once, key, row, { name: 'Ada' }))).toBe(0);
});

it('undoes step by step', () => {
  const first = insert(NO_CHANGES, { name: 'x' });
  const second = changeInserted(first, 1, { name: 'y' });
  const third = toggleDelete(second, new Map([[key, row]]));
  expect(countOf(third)).toBe(2);
  expect(undo(third).deletes.size).toBe(0);
  expect(undo(undo(third)).inserts).toEqual([{ id: 1, values: { name: 'x' } }]);
  expect(countOf(undo(undo(undo(third))))).toBe(0);
  expect(undo(NO_CHANGES)).toBe(NO_CHANGES);
});

it('removes the mark of a deletion when all chosen rows have it', () => {
  const marked = toggleDelete(NO_CHANGES, new Map([[key, row]]));
  expect(countOf(toggleDelete(marked, new Map([[key, row]])))).toBe(0);
});

it('keeps the value that a cell had when it was changed, even if another cell is changed after a later reading', () => {
  const first = change(NO_CHANGES, key, { ...row, age: '1' }, { name: 'Grace' });
  const second = change(first, key, { id: '1', name: 'theirs', age: '2' }, { age: '3' });
  expect(second.updates.get(key)).toEqual({
    row: { id: '1', name: 'Ada', age: '2' },
    values: { name: 'Grace', age: '3' },
  });
});

it('changes cells of several lines in one step', () => {
  const pending = changeCells(insert(NO_CHANGES, { name: 'x' }), [
    { key: '', row: null, insertId: 1, values: { age: '1' } },
    { key, row, insertId: null, values: { name: 'y' } },
  ]);
  expect(pending.inserts).toEqual([{ id: 1, values: { name: 'x', age: '1' } }]);
  expect(countOf(undo(pending))).toBe(1);
});

it('keeps unsaved changes, and cannot undo a save', () => {
  const pending = change(insert(NO_CHANGES, { name: 'x' }), key, row, { name: 'y' });
  const left = saved(pending, 'update', key, pending.updates.get(key)!);
  expect(left.updates.size).toBe(0);
  expect(left.inserts).toHaveLength(1);
  expect(undo(left)).toBe(left);
  expect(countOf(saved(left, 'insert', 1))).toBe(0);
  expect(countOf(removeInserted(left, 1))).toBe(0);
});

it('keeps changes that were made during a save, and treats the saved value as the stored value', () => {
  const sent = change(NO_CHANGES, key, row, { name: 'Grace' });
  const later = change(sent, key, row, { name: 'Alan' });
  const left = saved(later, 'update', key, sent.updates.get(key)!);
  expect([...left.updates.values()]).toEqual([{ row: { id: '1', name: 'Grace' }, values: { name: 'Alan' } }]);
});
