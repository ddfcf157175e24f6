/** The `select` parameter: columns and embeds, and their shape. */
import { assertDepth, type Budget } from './budget';
import { jsonPath, MORE_OF_FIELD } from './field';
import { fieldName, identifier } from './names';
import { AGGREGATES, type JoinType, JOIN_TYPES } from './operators';
import { END_OF_INPUT, Scanner } from './scanner';
import type { SelectEmbed, SelectField, SelectItem, SelectRowCount, SelectSpread } from './tree';

const AFTER_ITEM = ['")"', '","', END_OF_INPUT];
const AFTER_NAME = [...MORE_OF_FIELD, '"::"', '"."', ...AFTER_ITEM];
const AFTER_CAST = ['letter', 'digit', '"."', ...AFTER_ITEM];
const OR_COMMA = ['","'];
const CAST_NAME = ['letter', 'digit'];
const CH_OPEN = 0x28;
const CH_CLOSE = 0x29;
const CH_COMMA = 0x2c;
const CH_BANG = 0x21;
const CH_QUOTE = 0x22;

interface EmbedParameters {
  readonly hint: string | null;
  readonly join: JoinType | null;
}

/**
 * Parses the value of `select`, decoded.
 * Example: `/projects?select=id,name,client:clients(id,...users(email)),tasks()`
 * @throws GrammarError PL100, PL152 for deep nesting, PL153 for too many columns or embeds.
 */
export function parseSelect(text: string, budget?: Budget): readonly SelectItem[] {
  const scanner = new Scanner(text, { what: 'select parameter' }, budget);
  const items = text === '' ? [] : itemList(scanner, 0);
  scanner.expectEnd(OR_COMMA);
  return items;
}

function itemList(scanner: Scanner, depth: number): readonly SelectItem[] {
  const items: SelectItem[] = [];
  do {
    scanner.budget.takeTerm();
    items.push(item(scanner, depth));
    scanner.skipBlanks();
  } while (scanner.eat(','));
  return items;
}

function item(scanner: Scanner, depth: number): SelectItem {
  scanner.skipBlanks();
  if (scanner.isAt('...')) return spread(scanner, depth);
  if (scanner.eat('*')) {
    endOfItem(scanner);
    return { kind: 'star' };
  }
  let quoted = scanner.peek() === CH_QUOTE;
  let name = fieldName(scanner);
  let alias: string | null = null;
  if (scanner.isAt(':') && !scanner.isAt('::')) {
    scanner.pos += 1;
    alias = name;
    scanner.skipBlanks();
    quoted = scanner.peek() === CH_QUOTE;
    name = fieldName(scanner);
  }
  if (name === 'count' && !quoted && scanner.eat('()')) return rowCount(scanner, alias);
  const called = scanner.peek() === CH_BANG || scanner.peek() === CH_OPEN;
  // PostgREST reserves the name `count`: `count(*)` is neither its aggregate nor an embed.
  if (called && (name !== 'count' || quoted)) return embed(scanner, { relation: name, alias }, depth);
  return column(scanner, name, alias);
}

/** Example: `/projects?select=id,name,customer:clients!client_id!inner(id,name)` */
function embed(scanner: Scanner, head: Pick<SelectEmbed, 'relation' | 'alias'>, depth: number): SelectEmbed {
  const parameters = embedParameters(scanner);
  return { kind: 'embed', ...head, ...parameters, select: children(scanner, depth) };
}

/** Example: `/projects?select=id,...clients(client_name:name)` */
function spread(scanner: Scanner, depth: number): SelectSpread {
  scanner.pos += '...'.length;
  const relation = fieldName(scanner);
  const parameters = embedParameters(scanner);
  return { kind: 'spread', relation, ...parameters, select: children(scanner, depth) };
}

/**
 * Up to two of `!hint`, `!inner`, `!left`; the first of each kind counts. A hint is a foreign key, a column, or a
 * junction, and may begin with `inner` or `left`.
 * Example: `/users?select=id,tasks!users_tasks!inner(id)`
 */
function embedParameters(scanner: Scanner): EmbedParameters {
  let hint: string | null = null;
  let join: JoinType | null = null;
  for (let i = 0; i < 2 && scanner.eat('!'); i += 1) {
    const quoted = scanner.peek() === CH_QUOTE;
    const word = fieldName(scanner);
    if (!quoted && JOIN_TYPES.has(word)) join ??= word;
    else hint ??= word;
  }
  return { hint, join };
}

/**
 * The parenthesised part of an embed; `()` embeds without columns:
 * `/projects?select=id,clients()&clients=not.is.null`
 */
function children(scanner: Scanner, depth: number): readonly SelectItem[] {
  scanner.budget.takeEmbed();
  assertDepth(depth + 1);
  scanner.expect('(');
  scanner.skipBlanks();
  const select = scanner.peek() === CH_CLOSE ? [] : itemList(scanner, depth + 1);
  scanner.expect(')', OR_COMMA);
  return select;
}

/** Example: `/project_invoices?select=total:invoice_total::numeric.sum()::text` */
function column(scanner: Scanner, name: string, alias: string | null): SelectField {
  const path = jsonPath(scanner);
  scanner.skipBlanks();
  const value = cast(scanner);
  const aggregate = scanner.eat('.') ? scanner.expectWord(AGGREGATES.words) : null;
  if (aggregate !== null) scanner.expect('()');
  const aggregateCast = aggregate === null ? null : cast(scanner);
  if (aggregate !== null) endOfItem(scanner);
  else endOfItem(scanner, value === null ? AFTER_NAME : AFTER_CAST);
  return { kind: 'field', field: { name, path }, cast: value, aggregate, aggregateCast, alias };
}

/** Example: `/entities?select=n:count()::text` */
function rowCount(scanner: Scanner, alias: string | null): SelectRowCount {
  const result = cast(scanner);
  endOfItem(scanner);
  return { kind: 'row-count', cast: result, alias };
}

/** Example: `/complex_items?select=id::text` */
function cast(scanner: Scanner): string | null {
  return scanner.eat('::') ? identifier(scanner, CAST_NAME) : null;
}

function endOfItem(scanner: Scanner, expected = AFTER_ITEM): void {
  scanner.skipBlanks();
  if (scanner.atEnd || scanner.peek() === CH_COMMA || scanner.peek() === CH_CLOSE) return;
  scanner.fail(expected);
}
