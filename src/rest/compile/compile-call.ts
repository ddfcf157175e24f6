/** A function call in the FROM of a SELECT. TypeORM's builder takes no functions there, so the text is composed here. */
import { quoteIdentifier } from '../../database/sql/identifier';
import type { RoutineArgument } from '../catalog/catalog';
import type { ArgumentsPlan, CallPlan } from '../plan/plan';
import { nameOf } from '../plan/returning';
import { routineSql } from './field-sql';
import type { StatementBuilder } from './statement-builder';

const ARGUMENTS = 'plinth_arguments';

/** The column name of a value that is no row. */
export const SCALAR = 'plinth_value';

/** Selects the function's rows, or its values as SCALAR. */
export function compileCall(builder: StatementBuilder, plan: CallPlan): string {
  const { routine } = plan;
  const call = `${routineSql(routine)}(${argumentsSql(builder, plan.arguments, routine.arguments)})`;
  const from = membersSql(builder, plan.arguments);
  if (routine.result !== 'composite') {
    return `SELECT ${call} AS "${SCALAR}"${from === null ? '' : ` FROM ${from}`}`;
  }
  const rows = `${call} AS plinth_call`;
  return `SELECT ${columnsSql(plan)} FROM ${from === null ? rows : `${from}, LATERAL ${rows}`}`;
}

function columnsSql({ returning, routine }: CallPlan): string {
  // A null row has no columns to name, so all of the row is taken, whichever columns are shown.
  if (returning.kind !== 'fields' || !routine.returnsSet || returning.fields.length === 0)
    return 'plinth_call.*';
  return returning.fields
    .map((field) => {
      const name = quoteIdentifier(nameOf(field));
      return field.base.kind === 'column'
        ? `plinth_call.${name}`
        : `${routineSql(field.base.routine)}(plinth_call.*) AS ${name}`;
    })
    .join(', ');
}

/** Members of the body as a record, taken apart once. */
function membersSql(builder: StatementBuilder, plan: ArgumentsPlan): string | null {
  if (plan.kind !== 'members' || plan.given.length === 0) return null;
  const definitions = plan.given.map(({ name, inputType }) => `${quoteIdentifier(name)} ${inputType}`);
  const json = `${builder.parameter({ kind: 'body', as: 'json' })}::json`;
  return `json_to_record(${plan.inList ? `${json}->0` : json}) AS ${ARGUMENTS}(${definitions.join(', ')})`;
}

function argumentsSql(
  builder: StatementBuilder,
  plan: ArgumentsPlan,
  declared: readonly RoutineArgument[],
): string {
  switch (plan.kind) {
    case 'body': {
      const type = declared[0]?.type ?? 'json';
      return `${builder.parameter({ kind: 'body', as: type === 'bytea' ? 'bytes' : 'text' })}::${type}`;
    }
    case 'members':
      return plan.given
        .map((argument) => named(argument, `${ARGUMENTS}.${quoteIdentifier(argument.name)}`))
        .join(', ');
    case 'texts':
      return plan.given
        .map((argument) => {
          const as = argument.variadic ? 'list' : 'text';
          const text = builder.parameter({ kind: 'argument', name: argument.name, as });
          return named(argument, `${text}::${argument.inputType}`);
        })
        .join(', ');
  }
}

function named({ name, variadic }: RoutineArgument, value: string): string {
  return `${variadic ? 'VARIADIC ' : ''}${quoteIdentifier(name)} => ${value}`;
}
