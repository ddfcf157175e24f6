/** Statements of the SQL editor that lose data: they are confirmed first. Pure. It is a warning, not a protection. */

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
/** Comments, texts and names in quotes. */
export const QUOTED =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|\be'(?:[^'\\]|''|\\[\s\S])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"/gi;

/** @example dangersIn('delete from pets') // [{ kind: 'deleteAll', subject: 'pets' }] */
export function dangersIn(sql: string): Danger[] {
  return statementsOf(sql).flatMap(dangersOf);
}

/** Statements in one line each, without comments, and with empty texts. */
function statementsOf(sql: string): string[] {
  // A semicolon or a parenthesis in a quoted name splits nothing.
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
  for (const [kind, pattern] of [
    ['deleteAll', DELETE],
    ['updateAll', UPDATE],
  ] as const)
    for (const match of statement.matchAll(pattern))
      if (!hasCondition(statement.slice(match.index))) found.push({ kind, subject: match[1]! });
  return found;
}

/** True if `where` follows on the same level of parentheses. */
function hasCondition(rest: string): boolean {
  let depth = 0;
  for (const [token] of rest.matchAll(/[()]|\bwhere\b|"(?:[^"]|"")*"/gi)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (!token.startsWith('"') && depth === 0) return true;
    if (depth < 0) return false;
  }
  return false;
}
