import { type Cursor, cursorReducer, NO_CURSOR, ONE_CELL, rangeOf, targetOfKey } from './grid-cursor';

const at = { line: 3, column: 1, key: '["3"]' };

describe('the cursor of a grid', () => {
  it('edits the line at its position, and keeps the position when the editor is closed', () => {
    const moved = cursorReducer<string>(NO_CURSOR, { type: 'move', place: at });
    const edited = cursorReducer(moved, { type: 'edit', key: '["4"]' });
    expect(edited).toEqual({ ...NO_CURSOR, place: { ...at, key: '["4"]' }, isEditing: true });
    expect(cursorReducer(edited, { type: 'leave', place: at })).toEqual(moved);
  });

  it('has no cell to edit before it is placed', () => {
    expect(cursorReducer<string>(NO_CURSOR, { type: 'edit', key: 'x' }).place).toBeNull();
  });

  it('chooses a value without losing its position', () => {
    const picking: Cursor<string> = cursorReducer<string>(
      { ...NO_CURSOR, place: at },
      { type: 'pick', picking: 'owner' },
    );
    expect([picking.place, picking.picking]).toEqual([at, 'owner']);
    expect(cursorReducer(picking, { type: 'picked' })).toEqual({ ...NO_CURSOR, place: at });
  });

  it('has a range to any side, which a move ends', () => {
    const moved = cursorReducer<string>(NO_CURSOR, { type: 'move', place: at });
    const wide = cursorReducer(moved, { type: 'extend', extent: { lines: 2, columns: -1 } });
    expect(rangeOf(at, wide.extent)).toEqual({ top: 3, bottom: 5, left: 0, right: 1 });
    expect(cursorReducer(wide, { type: 'move', place: at }).extent).toEqual(ONE_CELL);
  });

  it('closes the editor only by a move to another cell', () => {
    const edited = cursorReducer({ ...NO_CURSOR, place: at }, { type: 'edit', key: at.key, typed: 'x' });
    expect(edited.typed).toBe('x');
    expect(cursorReducer(edited, { type: 'move', place: at }).isEditing).toBe(true);
    expect(cursorReducer(edited, { type: 'extend', extent: { lines: 1, columns: 0 } })).toBe(edited);
    expect(cursorReducer(edited, { type: 'move', place: { ...at, column: 2 } }).isEditing).toBe(false);
  });

  it.each([
    [{ key: 'ArrowDown', ctrlKey: false, metaKey: false }, [4, 1]],
    [{ key: 'ArrowLeft', ctrlKey: false, metaKey: false }, [3, 0]],
    [{ key: 'PageUp', ctrlKey: false, metaKey: false }, [-17, 1]],
    [{ key: 'End', ctrlKey: false, metaKey: false }, [3, 4]],
    [{ key: 'End', ctrlKey: true, metaKey: false }, [99, 4]],
    [{ key: 'Home', ctrlKey: true, metaKey: false }, [0, 0]],
    [{ key: 'ArrowDown', ctrlKey: true, metaKey: false }, [99, 1]],
    [{ key: 'ArrowRight', ctrlKey: false, metaKey: true }, [3, 4]],
    [{ key: 'toString', ctrlKey: false, metaKey: false }, null],
    [{ key: 'a', ctrlKey: false, metaKey: false }, null],
  ])('moves by %j to %j', (key, target) => {
    expect(targetOfKey(key, at, { lines: 100, columns: 5 })).toEqual(target);
  });
});
