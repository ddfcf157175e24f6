/**
 * Statements of the SQL editor that delete data, which are confirmed first. Pure. This is a warning, not a protection.
 */

export interface Danger {
  /** `drop`, `truncate`, or a change of every row. */
  readonly kind: 'drop' | 'truncate' | 'deleteAll' | 'updateAll';
  /** The objects, as the statement names them: `table a, b`. */
  readonly subject: string;
}

const NAME = String.raw`(?:"(?:[^"]|"")+"|[\w$]+)(?:\s*\.\s*(?:"(?:[^"]|"")+"|[\w$]+))?`;
const DROP = /^drop\s+(?:(?<kind>.*?)\s+)?(?:if\s+exists\s+)(?<names>.*)$|^drop\s+(?<rest>.*)$/i;
const DROP_PART = new RegExp(
  String.raw`^alter\s+table\s+(.*?)\s+drop\s+(?:column\s+)?(?:if\s+exists\s+)?(${NAME})`,
  'i',
);
const TRUNCATE = /^truncate\s+(?:table\s+)?(?<names>.*)$/i;
const DELETE = new RegExp(String.raw`\bdelete\s+from\s+(?:only\s+)?(${NAME})`, 'gi');
const UPDATE = new RegExp(String.raw`\bupdate\s+(?:only\s+)?(${NAME})(?:\s+(?:as\s+)?[\w$]+)?\s+set\b`, 'gi');
/**
 * Comments, strings and quoted names. Unterminated tokens extend to the end of the text, so that reading takes linear
 * time.
 */
export const QUOTED =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<![\w$])\$((?:[a-z_]\w*)?)\$[\s\S]*?(?:\$\1\$|$)|\be'(?:[^'\\]|''|\\[\s\S])*(?:'|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)/gi;

/** @example dangersIn('delete from pets') // [{ kind: 'deleteAll', subject: 'pets' }] */
export function dangersIn(sql: string): Danger[] {
  return statementsOf(sql).flatMap(dangersOf);
}

/** Statements on one line each, without comments, and with empty strings. */
function statementsOf(sql: string): string[] {
  // A semicolon or parenthesis in a quoted name is not a delimiter.
  const names: string[] = [];
  const plain = sql.replace(QUOTED, (part) => {
    if (part.startsWith('--') || part.startsWith('/*')) return ' ';
    if (!part.startsWith('"')) return "''";
    return `"${names.push(part) - 1}"`;
  });
  return plain
    .split(';')
    .map((one) => one.replace(/\s+/g, ' ').trim())
    .filter((one) => one !== '')
    .map((one) => one.replace(/"(\d+)"/g, (_, index) => names[Number(index)]!));
}

function dangersOf(statement: string): Danger[] {
  const found: Danger[] = [];
  const drop = DROP.exec(statement)?.groups;
  if (drop) found.push({ kind: 'drop', subject: drop.rest ?? `${drop.kind ?? ''} ${drop.names}`.trim() });
  const part = DROP_PART.exec(statement);
  if (part) found.push({ kind: 'drop', subject: `${part[1]}.${part[2]}` });
  const truncated = TRUNCATE.exec(statement)?.groups?.names;
  if (truncated) found.push({ kind: 'truncate', subject: truncated });
  return [...found, ...changesOfAll(statement)];
}

/** Finds deletions and updates without `where` on their level of parentheses, in one pass. */
function changesOfAll(statement: string): Danger[] {
  const of = (kind: 'deleteAll' | 'updateAll', pattern: RegExp) =>
    [...statement.matchAll(pattern)].map(({ index, 1: subject }) => ({ index, kind, subject: subject! }));
  const changes = [...of('deleteAll', DELETE), ...of('updateAll', UPDATE)];
  if (changes.length === 0) return [];
  const inOrder = changes.toSorted((one, other) => one.index - other.index).values();
  const limited = new Set<unknown>();
  // Changes without a condition that were found so far, by level.
  const levels: unknown[][] = [[]];
  let next = inOrder.next();
  for (const { 0: token, index } of statement.matchAll(/[()]|\bwhere\b|"(?:[^"]|"")*"/gi)) {
    for (; !next.done && next.value.index <= index; next = inOrder.next()) levels.at(-1)!.push(next.value);
    if (token === '(') levels.push([]);
    else if (token === ')') levels.splice(-1, 1, ...(levels.length === 1 ? [[]] : []));
    else if (!token.startsWith('"')) for (const one of levels.splice(-1, 1, [])[0]!) limited.add(one);
  }
  return changes.filter((change) => !limited.has(change)).map(({ kind, subject }) => ({ kind, subject }));
}
