/** Conditions as SQL: one case per kind of operation, the operators in closed tables. */
import { quoteIdentifier } from '../../database/sql/identifier';
import type { PlainOperator, QuantifiableOperator, TextSearchOperator, IsValue } from '../grammar/operators';
import type { InOperation, Operation, PlainOperation, QuantifiedOperation } from '../grammar/tree';
import type { ConditionPlan, FieldPlan } from '../plan/plan';
import { fieldSql, routineSql, type RowReference } from './field-sql';
import type { StatementBuilder } from './statement-builder';

const PLAIN: Readonly<Record<PlainOperator, string>> = {
  neq: '<>',
  cs: '@>',
  cd: '<@',
  ov: '&&',
  sl: '<<',
  sr: '>>',
  nxr: '&<',
  nxl: '&>',
  adj: '-|-',
  isdistinct: 'IS DISTINCT FROM',
};

const QUANTIFIABLE: Readonly<Record<QuantifiableOperator, string>> = {
  eq: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'LIKE',
  ilike: 'ILIKE',
  match: '~',
  imatch: '~*',
};

const IS: Readonly<Record<IsValue, string>> = {
  null: 'NULL',
  not_null: 'NOT NULL',
  true: 'TRUE',
  false: 'FALSE',
  unknown: 'UNKNOWN',
};

const TEXT_SEARCH: Readonly<Record<TextSearchOperator, string>> = {
  fts: 'to_tsquery',
  plfts: 'plainto_tsquery',
  phfts: 'phraseto_tsquery',
  wfts: 'websearch_to_tsquery',
};

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
      // A row of nothing but nulls is there all the same, which IS NULL would deny.
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
  switch (operation.kind) {
    case 'quantified': {
      const { operator, quantifier } = operation;
      const isPattern = operator === 'like' || operator === 'ilike';
      const operand = isPattern ? builder.parameter(operation) : parsed(builder, field, operation);
      return `${value} ${QUANTIFIABLE[operator]} ${quantifier ? `${quantifier.toUpperCase()}(${operand})` : operand}`;
    }
    case 'plain':
      return `${value} ${PLAIN[operation.operator]} ${parsed(builder, field, operation)}`;
    case 'in':
      return `${value} = ANY (${parsedList(builder, field, operation)})`;
    case 'is':
      return `${value} IS ${IS[operation.value]}`;
    case 'text-search': {
      // The language is text that PostgreSQL looks up; the cast keeps it from being taken for the document.
      const language =
        operation.language === null ? '' : `${builder.parameter(operation.language)}::regconfig, `;
      const vector = field.isTsvector ? value : `to_tsvector(${language}${value})`;
      return `${vector} @@ ${TEXT_SEARCH[operation.operator]}(${language}${builder.parameter(operation)})`;
    }
  }
}

/** A value in the way that the column's domain reads texts, if it has one. */
function parsed(
  builder: StatementBuilder,
  { parse }: FieldPlan,
  operation: QuantifiedOperation | PlainOperation,
): string {
  const parameter = builder.parameter(operation);
  return parse ? `${routineSql(parse)}(${parameter}::text)` : parameter;
}

/** One array, so that lists of any length are one statement; an empty one is valid, unlike `IN ()`. */
function parsedList(builder: StatementBuilder, { parse }: FieldPlan, operation: InOperation): string {
  const parameter = builder.parameter(operation);
  return parse ? `SELECT ${routineSql(parse)}(unnest(${parameter}::text[]))` : parameter;
}
