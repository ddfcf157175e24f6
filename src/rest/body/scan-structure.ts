/** The structure of a large JSON body, read token by token (RFC 8259), without building values or blocking the event loop. */
import { TokenType, Tokenizer } from '@streamparser/json';
import { Slices } from '../../common/time/slices';
import { invalidBody } from '../rest.errors';
import { type JsonStructure, kindOf } from './json-structure';
import { RowShapes } from './row-shapes';

/** Bytes tokenized between two checks of the clock. */
const PIECE = 16 * 1024;
/** Characters of a string that the tokenizer collects in one step; without a buffer it appends them one by one. */
const STRING_BUFFER = 64 * 1024;
/** Maximum characters of a member's name; PostgreSQL reads the first 63 bytes of it. */
const MAX_NAME = 1024 * 1024;
/** Maximum levels of nesting, since each level takes memory. PostgreSQL refuses fewer levels, by the limit of its stack. */
const MAX_LEVELS = 100_000;

/** @throws Error for text that is not JSON, AppError PL102 for text that nests too deeply */
export async function scanStructure(body: Buffer): Promise<JsonStructure> {
  const scan = new StructureScan();
  const tokenizer = new Tokenizer({ stringBufferSize: STRING_BUFFER });
  tokenizer.onToken = ({ token, value }) => scan.take(token, value);
  const slices = new Slices();
  for (let at = 0; at < body.length; at += PIECE) {
    tokenizer.write(body.subarray(at, at + PIECE));
    if (slices.isOver) await slices.yieldToLoop();
  }
  tokenizer.end();
  return scan.structure();
}

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end' | 'nothing';

class StructureScan {
  private readonly rows = new RowShapes();
  /** For each open level, whether it is an object. */
  private readonly open: boolean[] = [];
  private expected: Expected = 'value';
  /** Elements of the body's list; null if the body is not a list. */
  private length: number | null = null;

  take(token: TokenType, value: unknown): void {
    switch (token) {
      case TokenType.LEFT_BRACE:
        return this.begin(true);
      case TokenType.LEFT_BRACKET:
        return this.begin(false);
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        return this.end(token === TokenType.RIGHT_BRACE);
      case TokenType.COLON:
        return this.colon();
      case TokenType.COMMA:
        return this.comma();
      case TokenType.STRING:
        return this.expected === 'name' || this.expected === 'name or }'
          ? this.name(String(value))
          : this.value();
      default:
        this.value();
    }
  }

  structure(): JsonStructure {
    if (this.expected !== 'nothing') throw new SyntaxError('JSON ends too soon');
    return { kind: kindOf(this.length, this.rows.count), rows: this.rows };
  }

  private begin(isObject: boolean): void {
    this.assertValue();
    if (this.open.length === 0 && !isObject) this.length = 0;
    if (this.open.length === MAX_LEVELS) throw invalidBody('The body nests too deeply');
    this.open.push(isObject);
    this.expected = isObject ? 'name or }' : 'value or ]';
  }

  private end(isObject: boolean): void {
    const isEmpty = this.expected === (isObject ? 'name or }' : 'value or ]');
    if (this.open.at(-1) !== isObject || (!isEmpty && this.expected !== ', or end')) throw unexpected();
    if (this.isRow()) this.rows.endRow();
    this.open.pop();
    this.valueEnded();
  }

  private name(name: string): void {
    if (name.length > MAX_NAME) throw invalidBody('The body has a member with too long a name');
    if (this.isRow()) this.rows.name(name);
    this.expected = ':';
  }

  private colon(): void {
    if (this.expected !== ':') throw unexpected();
    this.expected = 'value';
  }

  private comma(): void {
    if (this.expected !== ', or end') throw unexpected();
    this.expected = this.open.at(-1) ? 'name' : 'value';
  }

  private value(): void {
    this.assertValue();
    this.valueEnded();
  }

  private assertValue(): void {
    if (this.expected !== 'value' && this.expected !== 'value or ]') throw unexpected();
  }

  private valueEnded(): void {
    if (this.length !== null && this.open.length === 1) this.length += 1;
    this.expected = this.open.length === 0 ? 'nothing' : ', or end';
  }

  /** Whether the innermost level is the body itself, or an object in its list. */
  private isRow(): boolean {
    return this.open.at(-1) === true && this.open.length === (this.length === null ? 1 : 2);
  }
}

function unexpected(): SyntaxError {
  return new SyntaxError('Unexpected token in JSON');
}
