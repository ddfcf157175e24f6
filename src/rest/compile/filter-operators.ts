/**
 * The closed table of filter operators: what each one of grammar/operators.ts means in SQL, and how its value is passed.
 * filter-sql.ts puts the parts together. TypeScript refuses the table if an operator is missing.
 */
import type { FilterOperator, IsValue } from '../grammar/operators';
import type { FilterParameter } from './parameter';

interface OperatorSql {
  /** The operator; of a text search the function that makes its query. */
  readonly sql: string;
  /** How its value is passed; `keyword` is a word of the shape, without a parameter. */
  readonly as: FilterParameter['as'] | 'keyword';
}

export const FILTER_OPERATORS = {
  eq: { sql: '=', as: 'text' },
  neq: { sql: '<>', as: 'text' },
  gt: { sql: '>', as: 'text' },
  gte: { sql: '>=', as: 'text' },
  lt: { sql: '<', as: 'text' },
  lte: { sql: '<=', as: 'text' },
  isdistinct: { sql: 'IS DISTINCT FROM', as: 'text' },
  like: { sql: 'LIKE', as: 'pattern' },
  ilike: { sql: 'ILIKE', as: 'pattern' },
  match: { sql: '~', as: 'text' },
  imatch: { sql: '~*', as: 'text' },
  in: { sql: '= ANY', as: 'list' },
  is: { sql: 'IS', as: 'keyword' },
  cs: { sql: '@>', as: 'text' },
  cd: { sql: '<@', as: 'text' },
  ov: { sql: '&&', as: 'text' },
  sl: { sql: '<<', as: 'text' },
  sr: { sql: '>>', as: 'text' },
  nxr: { sql: '&<', as: 'text' },
  nxl: { sql: '&>', as: 'text' },
  adj: { sql: '-|-', as: 'text' },
  fts: { sql: 'to_tsquery', as: 'text' },
  plfts: { sql: 'plainto_tsquery', as: 'text' },
  phfts: { sql: 'phraseto_tsquery', as: 'text' },
  wfts: { sql: 'websearch_to_tsquery', as: 'text' },
} as const satisfies Readonly<Record<FilterOperator, OperatorSql>>;

/** The words behind IS. */
export const IS_KEYWORDS: Readonly<Record<IsValue, string>> = {
  null: 'NULL',
  not_null: 'NOT NULL',
  true: 'TRUE',
  false: 'FALSE',
  unknown: 'UNKNOWN',
};
