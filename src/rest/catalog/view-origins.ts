/**
 * Finds the origins of a view's columns. PostgreSQL stores a view as a parsed query (pg_rewrite.ev_action).
 * Each entry of its outermost target list names the table and column that it shows unchanged, if any. The text
 * has the format of src/backend/nodes/outfuncs.c: nodes in braces, lists in parentheses, a backslash before
 * special characters.
 */

export interface ColumnOrigin {
  /** Position in the view, starting at 1. */
  readonly position: number;
  /** The oid of the relation: a table, or another view. */
  readonly relation: string;
  /** Position in that relation. */
  readonly column: number;
}

/** `(` and `{QUERY`: the depth at which the fields of the outermost query are. */
const QUERY_DEPTH = 2;
/** `(` of the target list and `{TARGETENTRY`: the depth at which the fields of an entry are. */
const ENTRY_DEPTH = QUERY_DEPTH + 2;

const TARGET_LIST = ':targetList (';
const FIELDS = [':resno ', ':resorigtbl ', ':resorigcol '] as const;

/** Reads the outermost target list; expressions are left out. Linear in the text. */
export function parseViewOrigins(action: string): ColumnOrigin[] {
  const origins: ColumnOrigin[] = [];
  const start = findTargetList(action);
  if (start < 0) return origins;
  let depth = QUERY_DEPTH;
  let entry: number[] = [];
  for (let at = start + TARGET_LIST.length - 1; at < action.length; at += 1) {
    const code = action.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (isOpening(code)) {
      depth += 1;
      if (depth === ENTRY_DEPTH) entry = [];
    } else if (isClosing(code)) {
      depth -= 1;
      if (depth === ENTRY_DEPTH - 1) pushOrigin(origins, entry);
      if (depth === QUERY_DEPTH) break;
    } else if (code === COLON && depth === ENTRY_DEPTH) readField(action, at, entry);
  }
  return origins;
}

const BACKSLASH = 0x5c;
const COLON = 0x3a;
const isOpening = (code: number): boolean => code === 0x28 || code === 0x7b;
const isClosing = (code: number): boolean => code === 0x29 || code === 0x7d;

function findTargetList(action: string): number {
  let depth = 0;
  for (let at = 0; at < action.length; at += 1) {
    const code = action.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
    else if (code === COLON && depth === QUERY_DEPTH && action.startsWith(TARGET_LIST, at)) return at;
  }
  return -1;
}

function readField(action: string, at: number, entry: number[]): void {
  FIELDS.forEach((field, index) => {
    if (!action.startsWith(field, at)) return;
    entry[index] = Number.parseInt(action.slice(at + field.length, at + field.length + 11), 10);
  });
}

function pushOrigin(origins: ColumnOrigin[], [position, relation, column]: number[]): void {
  if (!position || !relation || !column) return;
  origins.push({ position, relation: String(relation), column });
}
