import { type Cursor, cursorReducer, NO_CURSOR, targetOfKey } from './grid-cursor';

const at = { line: 3, column: 1, key: '["3"]' };

describe('the cursor of a grid', () => {
  it('edits the line that is under it, and keeps the place when the editor is left', () => {
    const moved = cursorReducer<string>(NO_CURSOR, { type: 'move', place: at });
    const edited = cursorReducer(moved, { type: 'edit', key: '["4"]' });
    expect(edited).toEqual({ place: { ...at, key: '["4"]' }, isEditing: true, picking: null });
    expect(cursorReducer(edited, { type: 'leave', place: at })).toEqual(moved);
  });

  it('has no place to edit before it is in a cell', () => {
    expect(cursorReducer<string>(NO_CURSOR, { type: 'edit', key: 'x' }).place).toBeNull();
  });

  it('chooses a value without losing its place', () => {
    const picking: Cursor<string> = cursorReducer<string>(
      { ...NO_CURSOR, place: at },
      { type: 'pick', picking: 'owner' },
    );
    expect([picking.place, picking.picking]).toEqual([at, 'owner']);
    expect(cursorReducer(picking, { type: 'picked' })).toEqual({ ...NO_CURSOR, place: at });
  });

  it.each([
    [{ key: 'ArrowDown', ctrlKey: false }, [4, 1]],
    [{ key: 'ArrowLeft', ctrlKey: false }, [3, 0]],
    [{ key: 'PageUp', ctrlKey: false }, [-17, 1]],
    [{ key: 'End', ctrlKey: false }, [3, 4]],
    [{ key: 'End', ctrlKey: true }, [99, 1]],
    [{ key: 'Home', ctrlKey: true }, [0, 1]],
    [{ key: 'ArrowDown', ctrlKey: true }, null],
    [{ key: 'a', ctrlKey: false }, null],
  ])('moves by %j to %j', (key, target) => {
    expect(targetOfKey(key, at, { lines: 100, columns: 5 })).toEqual(target);
  });
});
