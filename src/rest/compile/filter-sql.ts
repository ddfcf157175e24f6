/**
 * Conditions of a plan as conditions of TypeORM's query builder. They are texts: the builder's own operators (`Equal`, `In`,
 * `Like` ...) work on columns of an entity, and a project's tables have none; for `NOT`, quantifiers, text search, JSON
 * paths and embeds it has no operators at all. A text is made of quoted names, words of the closed table
 * FILTER_OPERATORS and placeholders, never of a client's text.
 */
import { quoteIdentifier } from '../../database/sql/identifier';
import type { InOperation, Operation, QuantifiedOperation, TextSearchOperation } from '../grammar/tree';
import type { ConditionPlan, FieldPlan } from '../plan/plan';
import { fieldSql, routineSql, type RowReference } from './field-sql';
import type { StatementBuilder, FilterParameter } from './statement-builder';
import type { FilterOperator, IsValue } from '../grammar/operators';

export function conditionSql(
  builder: StatementBuilder,
  reference: RowReference,
  condition: ConditionPlan,
): string {
  switch (condition.kind) {
    case 'filter': {
      const text = operationSql(builder, reference, condition.field, condition.operation);
      return condition.negated ? `NOT (${text})` : text;
    }
    case 'group': {
      const terms = condition.terms.map((term) => conditionSql(builder, reference, term));
      const joined = `(${terms.join(condition.operator === 'and' ? ' AND ' : ' OR ')})`;
      return condition.negated ? `NOT ${joined}` : joined;
    }
    case 'embed': {
      const embed = quoteIdentifier(condition.embed);
      const value = condition.toOne ? `(${embed}.*)` : `${embed}."plinth_list"`;
      // A row of nulls is still a row, but IS NULL would be true of it.
      return `${value} IS ${condition.isNull ? 'NOT ' : ''}DISTINCT FROM NULL`;
    }
  }
}

function operationSql(
  builder: StatementBuilder,
  reference: RowReference,
  field: FieldPlan,
  operation: Operation,
): string {
  const value = fieldSql(builder, reference, field);
  const { sql } = FILTER_OPERATORS[operation.operator];
  switch (operation.kind) {
    case 'quantified':
      return `${value} ${sql} ${quantified(operation, operandSql(builder, field, operation))}`;
    case 'plain':
      return `${value} ${sql} ${operandSql(builder, field, operation)}`;
    case 'in':
      return `${value} ${sql} (${listSql(builder, field, operation)})`;
    case 'is':
      return `${value} ${sql} ${IS_KEYWORDS[operation.keyword]}`;
    case 'text-search':
      return textSearchSql(builder, value, field, operation);
  }
}

function quantified({ quantifier }: QuantifiedOperation, operand: string): string {
  return quantifier === null ? operand : `${quantifier.toUpperCase()}(${operand})`;
}

/** A value in the form that the column's domain reads, if the column has a domain. A pattern is always text. */
function operandSql(
  builder: StatementBuilder,
  { parse }: FieldPlan,
  { operator, value }: Extract<Operation, { kind: 'quantified' | 'plain' }>,
): string {
  const { as } = FILTER_OPERATORS[operator];
  const parameter = builder.parameter({ kind: 'filter', slot: value, as });
  return parse && as !== 'pattern' ? `${routineSql(parse)}(${parameter}::text)` : parameter;
}

/** Passes one array, so that lists of any length share a statement; an empty array is valid, unlike `IN ()`. */
function listSql(builder: StatementBuilder, { parse }: FieldPlan, { operator, value }: InOperation): string {
  const { as } = FILTER_OPERATORS[operator];
  const parameter = builder.parameter({ kind: 'filter', slot: value, as });
  return parse ? `SELECT ${routineSql(parse)}(unnest(${parameter}::text[]))` : parameter;
}

function textSearchSql(
  builder: StatementBuilder,
  value: string,
  { isTsvector }: FieldPlan,
  { operator, language, value: slot }: TextSearchOperation,
): string {
  // The language is sent as text; the cast keeps PostgreSQL from taking it for the document.
  const config = language === null ? '' : `${builder.parameter(language)}::regconfig, `;
  const vector = isTsvector ? value : `to_tsvector(${config}${value})`;
  const { sql, as } = FILTER_OPERATORS[operator];
  const query = builder.parameter({ kind: 'filter', slot, as });
  return `${vector} @@ ${sql}(${config}${query})`;
}

/**
 * The closed table of filter operators: what each operator of grammar/operators.ts means in SQL, and how its value is
 * passed. filter-sql.ts puts the parts together. TypeScript refuses the table if an operator is missing.
 */
interface OperatorSql {
  /** The operator; for a text search, the function that makes its query. */
  readonly sql: string;
  /** How its value is passed; `keyword` stands for a word in the text of the statement, without a parameter. */
  readonly as: FilterParameter['as'] | 'keyword';
}

const FILTER_OPERATORS = {
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

/** The words after IS. */
const IS_KEYWORDS: Readonly<Record<IsValue, string>> = {
  null: 'NULL',
  not_null: 'NOT NULL',
  true: 'TRUE',
  false: 'FALSE',
  unknown: 'UNKNOWN',
};
