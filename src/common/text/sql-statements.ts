/**
 * Splits an SQL script into its statements by the rules of psql (src/fe_utils/psqlscan.l): semicolons inside of strings,
 * quoted names, comments, parentheses and the BEGIN ATOMIC bodies of SQL functions do not end a statement. Expects
 * standard_conforming_strings = on, PostgreSQL's default.
 */
import { inSlices } from '../time/slices';

export interface SqlStatement {
  /** Without the final semicolon, and without comments before its first word. */
  readonly text: string;
  /** Index of its first character in the script, in UTF-16 units. */
  readonly offset: number;
  /** Its first words in lower case, four at most, without words in quotes and comments. */
  readonly words: readonly string[];
}

const TOKEN = new RegExp(
  [
    String.raw`(?<space>\s+|--[^\n\r]*)`,
    String.raw`(?<comment>/\*)`,
    // Backslashes escape only in strings that begin with E.
    String.raw`(?<string>[eE]'(?:[^'\\]+|\\[^]|'')*(?:'|\\?$)|'(?:[^']+|'')*(?:'|$)|"(?:[^"]+|"")*(?:"|$))`,
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<dollar>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)`,
    // A number may be followed by letters; `$1` is a parameter.
    String.raw`(?<other>\$?\d[\w.]*|[^])`,
  ].join('|'),
  'uy',
);

/** Tokens between two checks of the clock. */
const STEP = 64;

/**
 * Statements in order; pieces without any word or symbol, such as a comment at the end, are left out. A script of a megabyte
 * takes up to a second, so it is split in slices.
 * @param most the number of statements to find: at most one more is returned
 */
export function splitStatements(script: string, most = Infinity): Promise<SqlStatement[]> {
  return inSlices(splitting(script, most));
}

/**
 * The beginning of a script in one line, without the values of strings and without comments, which may hold secrets.
 * @param most the number of characters of the script to read
 */
export function withoutStrings(script: string, most: number): string {
  const isPairCut = isLeadingSurrogate(script.charCodeAt(most - 1));
  const begin = script.slice(0, isPairCut ? most - 1 : most);
  let text = '';
  for (let index = 0; index < begin.length;) {
    TOKEN.lastIndex = index;
    const { groups, 0: token } = TOKEN.exec(begin) as RegExpExecArray;
    if (groups?.comment) index = inOneGo(endOfComment(begin, index));
    else index = groups?.dollar ? endOfDollarQuote(begin, index, token) : index + token.length;
    if (groups?.dollar) text += '$$…$$';
    else if (groups?.string && !token.startsWith('"')) text += "'…'";
    else text += groups?.space || groups?.comment ? ' ' : token;
    // Without standard_conforming_strings the string continues after this quote.
    if (/^'[^]*\\'$/.test(token)) return `${text.trim()} …`;
  }
  return text.replaceAll(/ +/g, ' ').trim() + (script.length > most ? ' …' : '');
}

/** True when a script may have more statements. Cheap: it counts semicolons. */
export function mayHaveMoreStatements(script: string, most: number): boolean {
  let count = 1;
  for (let at = script.indexOf(';'); at >= 0 && count <= most; at = script.indexOf(';', at + 1)) count += 1;
  return count > most;
}

function* splitting(script: string, most: number): Generator<void, SqlStatement[]> {
  const statements: SqlStatement[] = [];
  let current = new OpenStatement();
  const finish = (end: number): void => {
    const { start } = current;
    if (start !== null)
      statements.push({ text: script.slice(start, end), offset: start, words: current.words });
    current = new OpenStatement();
  };
  let tokens = 0;
  for (let index = 0; index < script.length && statements.length <= most;) {
    tokens += 1;
    if (tokens % STEP === 0) yield;
    TOKEN.lastIndex = index;
    const { groups, 0: token } = TOKEN.exec(script) as RegExpExecArray;
    if (groups?.comment) index = yield* endOfComment(script, index);
    else if (token === ';' && current.isComplete) {
      finish(index);
      index += 1;
    } else {
      if (!groups?.space) current.add(index, token, groups?.word !== undefined);
      index = groups?.dollar ? endOfDollarQuote(script, index, token) : index + token.length;
    }
  }
  if (statements.length <= most) finish(script.length);
  return statements;
}

/**
 * Converts a position in a statement to a position in its script.
 * @param position number of a character of the statement from 1, in code points as PostgreSQL counts
 */
export function locationInScript(
  script: string,
  { offset, text }: SqlStatement,
  position: number,
): TextLocation {
  const before = script.slice(0, offset) + [...text].slice(0, Math.max(position - 1, 0)).join('');
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

/** The first word in lower case, for commands such as COMMIT; empty if there is none. */
export function commandOf({ text }: SqlStatement): string {
  return /^[a-z]+/i.exec(text)?.[0].toLowerCase() ?? '';
}

/** The parts of a statement that decide whether a semicolon ends it. */
class OpenStatement {
  start: number | null = null;
  private parentheses = 0;
  /** Open BEGIN and CASE in the body of an SQL function. */
  private blocks = 0;
  private isRoutine = false;
  /** The first four words. */
  readonly words: string[] = [];

  get isComplete(): boolean {
    return this.parentheses === 0 && this.blocks === 0;
  }

  add(index: number, token: string, isWord: boolean): void {
    this.start ??= index;
    if (token === '(') this.parentheses += 1;
    else if (token === ')') this.parentheses = Math.max(0, this.parentheses - 1);
    else if (isWord) this.addWord(token.toLowerCase());
  }

  private addWord(word: string): void {
    if (this.words.length < 4) {
      this.words.push(word);
      this.isRoutine = /^create (or replace )?(function|procedure)/.test(this.words.join(' '));
    }
    if (this.parentheses > 0 || !this.isRoutine) return;
    if (word === 'begin' || (word === 'case' && this.blocks > 0)) this.blocks += 1;
    else if (word === 'end') this.blocks = Math.max(0, this.blocks - 1);
  }
}

function inOneGo<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Comments nest. An open comment ends with the script. */
function* endOfComment(script: string, start: number): Generator<void, number> {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let [depth, marks] = [0, 0];
  for (let found = mark.exec(script); found; found = mark.exec(script)) {
    marks += 1;
    if (marks % STEP === 0) yield;
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return script.length;
}

function endOfDollarQuote(script: string, start: number, tag: string): number {
  const end = script.indexOf(tag, start + tag.length);
  return end < 0 ? script.length : end + tag.length;
}

/** Position in a text to line and column, as editors count them. */
export interface TextLocation {
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1; a character outside the basic plane counts once. */
  readonly column: number;
}

const LINE_FEED = 0x0a;

/**
 * @param position number of a character from 1, as PostgreSQL counts: in code points, not in UTF-16 units. A position behind
 * the end gives the position right after the last character.
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
