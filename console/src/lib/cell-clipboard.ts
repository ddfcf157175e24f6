/** Cells on the clipboard in the format of spreadsheets, with tabs between columns and line breaks between rows. Pure. */

export type Cells = readonly (readonly (string | null)[])[];

/** Type of cells from this console, in which null and an empty text differ. */
export const CELLS_TYPE = 'application/x-plinth-cells+json';

/** Writes cells as text; a single cell is unchanged. */
export function toTabText(cells: Cells): string {
  if (cells.length === 1 && cells[0]?.length === 1) return cells[0][0] ?? '';
  const field = (value: string | null): string =>
    value !== null && /["\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : (value ?? '');
  return cells.map((row) => row.map(field).join('\t')).join('\n');
}

const FIELD = /(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\n|\r|$)/y;

/** An empty field is null. */
export function fromTabText(text: string): Cells {
  const source = text.replace(/\r?\n$/, '');
  const rows: (string | null)[][] = [[]];
  FIELD.lastIndex = 0;
  for (;;) {
    const [, quoted, plain = '', end = ''] = FIELD.exec(source) ?? [];
    rows.at(-1)!.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'));
    if (end === '') return rows;
    if (end !== '\t') rows.push([]);
  }
}

/** @returns null if the text is not a rectangle of cells, as another program may have written it */
export function cellsFromJson(text: string): Cells | null {
  try {
    const cells = JSON.parse(text) as unknown;
    const isCell = (one: unknown): boolean => one === null || typeof one === 'string';
    const isRow = (row: unknown): boolean => Array.isArray(row) && row.length > 0 && row.every(isCell);
    return Array.isArray(cells) && cells.length > 0 && cells.every(isRow) ? (cells as Cells) : null;
  } catch {
    return null;
  }
}
