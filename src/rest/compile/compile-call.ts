/** A function call in the FROM of a SELECT. TypeORM's builder does not support functions there, so the text is composed here. */
import { quoteIdentifier } from '../../database/sql/identifier';
import type { RoutineArgument } from '../catalog/catalog';
import type { ArgumentsPlan, CallPlan, CallRequestPlan, RepresentationPlan } from '../plan/plan';
import { nameOf } from '../plan/returning';
import { routineSql } from './field-sql';
import { StatementBuilder } from './statement-builder';
import { type CompileInput, type CompiledStatement, finish } from './compiled-statement';
import { compileCount, compileShown, RESULT, windowSql, countSql } from './compile-read';
import { WHOLE_ROW, rowSql, scalarSql, SCALAR } from './row-sql';

const ARGUMENTS = 'plinth_arguments';

/** Selects the function's rows, or its values as SCALAR. */
function compileCall(builder: StatementBuilder, plan: CallPlan): string {
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
  // A null row has no columns, so the whole row is selected, whichever columns are shown.
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

/** The members of the body as a record, which is expanded once. */
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

/** A function call with the read of its result. */
export function compileCalled(plan: CallRequestPlan, input: CompileInput): CompiledStatement {
  const { call, read, representation } = plan;
  const { result, returnsSet } = call.routine;
  const builder = new StatementBuilder();
  const called = compileCall(builder, call);
  const isScalar = result !== 'composite';
  const value = isScalar ? scalarSql(plan) : rowSql(plan);
  if (isScalar && !returnsSet) return finish(builder, `SELECT ${value} FROM (${called}) plinth_row`, input);
  const rows = isScalar ? `SELECT * FROM ${RESULT}${windowSql(builder, read)}` : compileShown(builder, plan);
  const query = builder.select();
  query.addCommonTableExpression(called, RESULT);
  if (!countsSeparately(plan)) {
    query.from(`(${rows})`, 'plinth_row').addSelect(value);
    return finish(builder, query.getQuery(), input);
  }
  const total = countSql(isScalar ? `SELECT FROM ${RESULT}` : compileCount(builder, read));
  if (ROW_BY_ROW.has(representation.kind)) {
    // After the last page the only row is the total, with a null in place of a row. A row that is itself null
    // is sent as the text 'null'.
    query.from(`(${total})`, 'plinth_counted').leftJoin(`(${rows})`, 'plinth_row', 'TRUE');
    query.addSelect(`CASE WHEN ${WHOLE_ROW} IS DISTINCT FROM NULL THEN coalesce(${value}, 'null') END`);
    query.addSelect('plinth_counted."plinth_total"');
  } else {
    query.from(`(${rows})`, 'plinth_row').addSelect(`${value}, (${total})`);
  }
  return finish(builder, query.getQuery(), input);
}

/** The other representations aggregate all rows into one value. */
const ROW_BY_ROW: ReadonlySet<RepresentationPlan['kind']> = new Set(['rows', 'object', 'ndjson', 'csv']);

/** A function must run only once, so its rows are counted in the same statement. */
function countsSeparately({ count, read, call }: CallRequestPlan): boolean {
  return count !== null && call.routine.returnsSet && (read.limit !== null || read.offset > 0);
}
