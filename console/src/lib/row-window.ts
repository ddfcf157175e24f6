/**
 * Geometry of a grid whose rows can be higher than an element: browsers limit elements to 17 to 33 million pixels.
 * Below the limit, a pixel of the scroll bar is a pixel of the rows. Above it, `offset` is the distance between the
 * rows and their element. Pure.
 */

export const ROW_PX = 28;
/** Largest height of the element. */
export const MAX_PX = 8_000_000;
/** Rows above and below the view that are drawn too. */
const OVERSCAN = 12;
/** A scroll by more than this number of views is a jump, made with the scroll bar or a key. */
const JUMP_VIEWS = 3;
/** The scroll bar is corrected when it is this far from its right position. */
const DRIFT_PX = 200_000;

export interface Scroll {
  /** Scroll position of the element. */
  readonly top: number;
  /** Distance to add to a position in the element to get the position in all rows. */
  readonly offset: number;
}

export const AT_START: Scroll = { top: 0, offset: 0 };

interface Size {
  readonly rows: number;
  /** Height of the visible part. */
  readonly view: number;
}

export function heightOf(rows: number): number {
  return Math.min(rows * ROW_PX, MAX_PX);
}

/** Position of the scroll bar for a position in all rows. */
export function scrollTo(wanted: number, { rows, view }: Size): Scroll {
  const end = Math.max(0, rows * ROW_PX - view);
  const position = Math.min(Math.max(0, wanted), end);
  const room = Math.max(0, heightOf(rows) - view);
  const top = end === 0 ? 0 : Math.round((position / end) * room);
  return rows * ROW_PX <= MAX_PX ? { top: position, offset: 0 } : { top, offset: position - top };
}

/**
 * The state after the element was scrolled to `top`. Its `top` differs from the argument if the scroll bar must be
 * corrected.
 */
export function scrolled(before: Scroll, top: number, size: Size): Scroll {
  const { rows, view } = size;
  if (rows * ROW_PX <= MAX_PX) return { top, offset: 0 };
  const room = heightOf(rows) - view;
  if (Math.abs(top - before.top) > JUMP_VIEWS * view) {
    const position = (top / room) * (rows * ROW_PX - view);
    return { top, offset: position - top };
  }
  const right = scrollTo(top + before.offset, size);
  // The scroll bar cannot move further, so all rows before or after it must be in view.
  if (top <= 0 && right.top === 0) return AT_START;
  const isAtEdge = top <= 0 || top >= room - 1;
  return isAtEdge || Math.abs(right.top - top) > DRIFT_PX ? right : { top, offset: before.offset };
}

/** The first and the last row that are drawn. */
export function drawn({ top, offset }: Scroll, { rows, view }: Size): { first: number; last: number } {
  const position = top + offset;
  return {
    first: Math.max(0, Math.floor(position / ROW_PX) - OVERSCAN),
    last: Math.min(rows - 1, Math.ceil((position + view) / ROW_PX) + OVERSCAN),
  };
}

/** The position that shows a row with the least movement. */
export function reveal({ top, offset }: Scroll, row: number, view: number): number {
  const position = top + offset;
  if (row * ROW_PX < position) return row * ROW_PX;
  if ((row + 1) * ROW_PX > position + view) return (row + 1) * ROW_PX - view;
  return position;
}
