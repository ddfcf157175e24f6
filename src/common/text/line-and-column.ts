/** Position in a text to line and column, as editors count them. */

export interface TextLocation {
  /** From 1. */
  readonly line: number;
  /** From 1; a character outside the basic plane counts once. */
  readonly column: number;
}

const LINE_FEED = 0x0a;

/**
 * @param position number of a character from 1, as PostgreSQL counts: in code points, not in UTF-16 units. A position
 *   behind the end gives the place right after the last character.
 */
export function lineAndColumn(text: string, position: number): TextLocation {
  let [line, column] = [1, 1];
  for (
    let index = 0, character = 1;
    character < position && index < text.length;
    index += 1, character += 1
  ) {
    const unit = text.charCodeAt(index);
    if (isLeadingSurrogate(unit)) index += 1;
    if (unit === LINE_FEED) [line, column] = [line + 1, 1];
    else column += 1;
  }
  return { line, column };
}

function isLeadingSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
