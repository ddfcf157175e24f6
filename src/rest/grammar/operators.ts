/**
 * The closed lists of the query language. Each array gives both the type of its words and the check for an
 * unknown word; nothing else in the grammar lists operators. The compile stage defines what an operator means
 * in SQL.
 */

/** A list of words: gives their type, and checks whether a text is one of them. */
export interface WordTable<Word extends string> {
  readonly words: readonly Word[];
  has(text: string): text is Word;
}

function table<const Words extends readonly string[]>(...words: Words): WordTable<Words[number]> {
  const set: ReadonlySet<string> = new Set(words);
  return { words, has: (text): text is Words[number] => set.has(text) };
}

type WordOf<Table> = Table extends WordTable<infer Word> ? Word : never;

/** Operators that may carry `(any)` or `(all)`. Example: `/simple_pk?k=like(any).{*yan,*ang}` */
export const QUANTIFIABLE_OPERATORS = table(
  'eq',
  'gt',
  'gte',
  'lt',
  'lte',
  'like',
  'ilike',
  'match',
  'imatch',
);
export type QuantifiableOperator = WordOf<typeof QUANTIFIABLE_OPERATORS>;

export const QUANTIFIERS = table('any', 'all');
export type Quantifier = WordOf<typeof QUANTIFIERS>;

/** Operators with one plain value. Example: `/ranges?range=nxr.[4,7]` */
export const PLAIN_OPERATORS = table('neq', 'cs', 'cd', 'ov', 'sl', 'sr', 'nxr', 'nxl', 'adj', 'isdistinct');
export type PlainOperator = WordOf<typeof PLAIN_OPERATORS>;

/** Full-text search. Example: `/tsearch?text_search_vector=wfts(english).fat` */
export const TEXT_SEARCH_OPERATORS = table('fts', 'plfts', 'phfts', 'wfts');
export type TextSearchOperator = WordOf<typeof TEXT_SEARCH_OPERATORS>;

/** Every operator of a filter. compile/filter-sql.ts defines their SQL. */
export type FilterOperator = QuantifiableOperator | PlainOperator | TextSearchOperator | 'in' | 'is';

/** Values of `is.`, not case-sensitive. Plinth's `is.not.null` is read as `not_null`. */
export const IS_VALUES = table('null', 'not_null', 'true', 'false', 'unknown');
export type IsValue = WordOf<typeof IS_VALUES>;

export const LOGIC_OPERATORS = table('and', 'or');
export type LogicOperator = WordOf<typeof LOGIC_OPERATORS>;

export const AGGREGATES = table('sum', 'avg', 'count', 'max', 'min');
export type Aggregate = WordOf<typeof AGGREGATES>;

export const JOIN_TYPES = table('inner', 'left');
export type JoinType = WordOf<typeof JOIN_TYPES>;

export const ORDER_DIRECTIONS = table('asc', 'desc');
export type OrderDirection = WordOf<typeof ORDER_DIRECTIONS>;

export const NULLS_ORDERS = table('nullsfirst', 'nullslast');
export type NullsOrder = WordOf<typeof NULLS_ORDERS>;

/**
 * Parameters that are never filters on any level; the embeddable parameters may be prefixed with a path:
 * `projects.limit=2`.
 */
export const TOP_LEVEL_PARAMETERS = table('select', 'columns', 'on_conflict');
export const EMBEDDABLE_PARAMETERS = table('order', 'limit', 'offset', 'and', 'or');

export const METHODS = table('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
export type Method = WordOf<typeof METHODS>;
