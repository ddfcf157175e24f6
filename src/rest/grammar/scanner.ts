/**
 * A cursor over one decoded text, which reports errors at its position. The rules of the grammar are functions over
 * it. No rule moves the cursor back beyond the start of its own token, so parsing takes linear time.
 */
import { Budget, LIMITS } from './budget';
import { GrammarError } from './grammar-error';
import { type FilterValue, QueryParts, type Slot } from './query-values';

/** The subject of the error message. */
export interface Subject {
  /** The word in `failed to parse <what> (<text>)`. */
  readonly what: string;
  /** The text to show, if it differs from the scanned one. */
  readonly shown?: string;
}

/** Expected tokens, as listed in the error message. */
export const END_OF_INPUT = 'end of input';
export const NOTHING_ELSE: readonly string[] = [];

export class Scanner {
  pos = 0;

  constructor(
    readonly text: string,
    private readonly subject: Subject,
    readonly budget: Budget = new Budget(),
    private readonly parts: QueryParts | null = null,
  ) {}

  get atEnd(): boolean {
    return this.pos >= this.text.length;
  }

  /** The code unit under the cursor, or -1 at the end. */
  peek(): number {
    return this.pos < this.text.length ? this.text.charCodeAt(this.pos) : -1;
  }

  /** True if `token` comes next; does not move the cursor. */
  isAt(token: string): boolean {
    // The first character nearly always decides. Comparing it is cheaper than calling startsWith().
    return (
      this.peek() === token.charCodeAt(0) && (token.length === 1 || this.text.startsWith(token, this.pos))
    );
  }

  /** Moves past `token` and returns true if it comes next. */
  eat(token: string): boolean {
    if (!this.isAt(token)) return false;
    this.pos += token.length;
    return true;
  }

  /** Reads a value; the tree keeps only its slot. */
  takeValue(read: (scanner: Scanner) => FilterValue): Slot {
    if (this.parts === null) throw new Error('a text without values has a value');
    const start = this.pos;
    return this.parts.takeValue(read(this), this.text, start, this.pos);
  }

  /** @throws GrammarError PL100 if `token` does not come next. */
  expect(token: string, otherwise = NOTHING_ELSE): void {
    if (!this.eat(token)) this.fail([quote(token), ...otherwise]);
  }

  /** Skips spaces and tabs, which are allowed around names, commas and parentheses. */
  skipBlanks(): void {
    while (this.peek() === 0x20 || this.peek() === 0x09) this.pos += 1;
  }

  /** Moves on while `accepts` returns true for the code unit; returns the text between. */
  takeWhile(accepts: (code: number) => boolean): string {
    const start = this.pos;
    while (!this.atEnd && accepts(this.peek())) this.pos += 1;
    return this.text.slice(start, this.pos);
  }

  /**
   * Blanks and surplus closing marks are accepted at the end of a text, because PostgREST's own tests use
   * them: `/entities?and=(id.eq.1,id.neq.2))`, `/clients?select=name,projects(count)'`. Everything else is an
   * error, even where PostgREST silently ignores the rest.
   */
  expectEnd(otherwise = NOTHING_ELSE): void {
    const stop = this.pos;
    while (isSurplus(this.peek())) this.pos += 1;
    if (this.atEnd) return;
    this.pos = stop;
    this.skipBlanks();
    this.fail([...otherwise, END_OF_INPUT]);
  }

  /** @throws GrammarError PL100 always; `unexpected` replaces the character at the cursor. */
  fail(expected: readonly string[], unexpected: string = this.found(expected)): never {
    const { what, shown = this.text } = this.subject;
    const { line, column } = positionIn(this.text, this.pos);
    throw new GrammarError({
      code: 'PL100',
      message: `"failed to parse ${what} (${clip(shown)})" (line ${line}, column ${column})`,
      details: `unexpected ${unexpected} expecting ${enumerate(expected)}`,
    });
  }

  /** Reads a keyword; an error names the position where the first of `words` stops matching. */
  expectWord<Word extends string>(words: readonly Word[]): Word {
    for (const word of words) if (this.eat(word)) return word;
    return this.fail(words.map(quote), this.mismatch(words[0] ?? ''));
  }

  /** The first character that differs from `word`, quoted. */
  mismatch(word: string): string {
    let at = this.pos;
    for (let i = 0; i < word.length && this.text[at] === word[i]; i += 1) at += 1;
    return at < this.text.length ? quote(characterAt(this.text, at)) : END_OF_INPUT;
  }

  /** PostgREST's parser library uses single quotes if the end of the input was expected. */
  private found(expected: readonly string[]): string {
    if (this.atEnd) return END_OF_INPUT;
    const character = characterAt(this.text, this.pos);
    return expected.includes(END_OF_INPUT) ? `'${character}'` : quote(character);
  }
}

/** A blank, `)` or `'`. */
function isSurplus(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x29 || code === 0x27;
}

/** A token as error messages show it. */
export function quote(token: string): string {
  return `"${token}"`;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function clip(text: string): string {
  return text.length > LIMITS.echo ? `${text.slice(0, LIMITS.echo)}…` : text;
}

function enumerate(items: readonly string[]): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`;
}

/** Line and column from 1, in characters; a tab goes to the next multiple of eight, as PostgREST counts. */
function positionIn(text: string, end: number): { line: number; column: number } {
  let line = 1;
  let column = 1;
  for (const character of text.slice(0, end)) {
    if (character === '\n') {
      line += 1;
      column = 1;
    } else {
      column += character === '\t' ? 8 - ((column - 1) % 8) : 1;
    }
  }
  return { line, column };
}
