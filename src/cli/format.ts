/** Output for the terminal: tables and lists in plain text. */

type Row = Readonly<Record<string, unknown>>;

/** A table with a heading; numbers are right-aligned. Without rows, a line that says so. */
export function table(rows: readonly Row[], columns?: readonly string[]): string {
  const names = columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length === 0 || names.length === 0) return '(no rows)\n';
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const isNumber = names.map((name) =>
    rows.every((row) => /^(-?(\d+(\.\d+)?(e[+-]?\d+)?|Infinity)|NaN)?$/.test(cell(row[name]))),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) =>
        isNumber[column] ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${[line(names), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')}\n`;
}

/** Lines of the form `name value`. */
export function list(record: Row): string {
  const entries = Object.entries(record);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}\n`).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return inOneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Replaces control characters other than tabs and line breaks: text of a database must not send commands to the terminal. */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ');

/** Printable, without tabs and line breaks. */
export const inOneLine = (text: string): string => printable(text).replace(/[\t\n]/g, ' ');
