/** Fields as SQL expressions. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { QualifiedName } from '../catalog/catalog';
import type { JsonStep } from '../grammar/tree';
import type { FieldPlan } from '../plan/plan';
import { nameOf } from '../plan/returning';
import type { StatementBuilder } from './statement-builder';

/** The row that fields are taken from. */
export interface RowReference {
  /** SQL for the row: a quoted alias or a qualified table. */
  readonly row: string;
  /** True for rows of a write or a function, in which computed fields are columns. */
  readonly isResult: boolean;
}

export function aliasReference(alias: string, isResult = false): RowReference {
  return { row: quoteIdentifier(alias), isResult };
}

/** The table of an UPDATE or DELETE, to which TypeORM gives no alias. */
export function tableReference({ schema, name }: QualifiedName): RowReference {
  return { row: quoteQualified(schema, name), isResult: false };
}

export function fieldSql(builder: StatementBuilder, reference: RowReference, field: FieldPlan): string {
  const base = baseSql(reference, field);
  if (field.path.length === 0) return base;
  return (field.toJsonb ? `to_jsonb(${base})` : base) + pathSql(builder, field.path);
}

function baseSql({ row, isResult }: RowReference, field: FieldPlan): string {
  if (field.base.kind === 'column' || isResult) return `${row}.${quoteIdentifier(nameOf(field))}`;
  return `${routineSql(field.base.routine)}(${row}.*)`;
}

function pathSql(builder: StatementBuilder, path: readonly JsonStep[]): string {
  return path
    .map((step) => {
      const arrow = step.asText ? '->>' : '->';
      // A key has no type, like PostgREST's literals: PostgreSQL assumes text, or reports `unknown` if no operator matches.
      return step.kind === 'key'
        ? `${arrow}${builder.parameter(step.key)}`
        : `${arrow}${builder.parameter(step.index)}::integer`;
    })
    .join('');
}

export function routineSql({ schema, name }: QualifiedName): string {
  return quoteQualified(schema, name);
}
