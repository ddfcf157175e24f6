/** A request's plan as the statements to run: what makes the rows, and what counts them. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type {
  CallRequestPlan,
  ReadPlan,
  ReadRequestPlan,
  RepresentationPlan,
  RequestPlan,
  WriteRequestPlan,
} from '../plan/plan';
import { EMPTY_ROW } from '../plan/plan-read';
import { compileCall, SCALAR } from './compile-call';
import type { CompileInput } from './compile-input';
import { compileInserts } from './compile-inserts';
import { compileCount, compileShown, RESULT, windowSql } from './compile-read';
import { BODY, compileDelete, compileNoUpdate, compileUpdate } from './compile-write';
import { jsonColumns } from './json-columns';
import { areNameable, csvSql, hasColumns, WHOLE_ROW } from './named-columns';
import type { JsonRow } from '../../database/rows/json-row';
import type { Parameter } from './parameter';
import { StatementBuilder } from './statement-builder';

export interface CompiledStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** Stays prepared under this name: of the text and the catalog it was made for. */
  readonly name: string;
  /** What prints its rows; null: a row is one text already. */
  readonly row: JsonRow | null;
}

export interface CompiledRequest {
  /** Their rows together are the answer; several only for inserts with very many sets of columns. */
  readonly main: readonly CompiledStatement[];
  /** One row with one number. */
  readonly exactCount: CompiledStatement | null;
  /** EXPLAIN (FORMAT JSON) of the read without its window. */
  readonly plannedCount: CompiledStatement | null;
}

export function compileRequest(plan: RequestPlan, input: CompileInput): CompiledRequest {
  const main = compileMain(plan, input);
  return { main: explained(plan.representation, main, input), ...compileCounts(plan, input) };
}

function compileMain(plan: RequestPlan, input: CompileInput): CompiledStatement[] {
  switch (plan.kind) {
    case 'read':
      return [compileReading(plan, input)];
    case 'write':
      return compileWrite(plan, input);
    case 'call':
      return [compileCalled(plan, input)];
  }
}

function compileReading(plan: ReadRequestPlan, input: CompileInput): CompiledStatement {
  const builder = new StatementBuilder();
  const read = compileShown(builder, plan);
  const columns = input.printsRows ? jsonColumns(plan) : null;
  if (!columns) return finish(builder, rowsSql(builder, plan, read), input);
  const query = builder.select().from(`(${read})`, 'plinth_row');
  for (const expression of columns.select) query.addSelect(expression);
  if (columns.condition !== null) query.where(columns.condition);
  return finish(builder, query.getQuery(), input, columns.row);
}

/** What decides how a row is shown. */
type Shown = Pick<RequestPlan, 'representation' | 'read' | 'columns'>;

/** Makes one text per row; TypeORM builds the outer SELECT as it built the inner one. */
function rowsSql(
  builder: StatementBuilder,
  shown: Shown,
  read: string,
  expressions: readonly (readonly [name: string, query: string])[] = [],
): string {
  const query = builder.select().from(`(${read})`, 'plinth_row');
  for (const [name, expression] of expressions) query.addCommonTableExpression(expression, name);
  query.addSelect(rowSql(shown));
  if (hasHeaderOfAll(shown)) query.where(hasColumns(shown.columns.length));
  return query.getQuery();
}

/** The header line names the columns of `*`, so they have to be those. */
function hasHeaderOfAll({ representation, read, columns }: Shown): boolean {
  return (
    representation.kind === 'csv' && areNameable(columns) && read.outputs.some(({ kind }) => kind === 'all')
  );
}

function rowSql({ representation, read, columns }: Shown): string {
  switch (representation.kind) {
    case 'rows':
    case 'object': {
      const row = isEmptyRow(read) ? `'{}'::json` : `row_to_json${WHOLE_ROW}`;
      return representation.stripNulls ? `json_strip_nulls(${row})` : row;
    }
    case 'ndjson':
      return isEmptyRow(read) ? `'{}'::json` : `row_to_json${WHOLE_ROW}`;
    case 'csv':
      return csvSql(columns);
    case 'geojson':
      return `json_build_object('type', 'FeatureCollection', 'features', coalesce(json_agg(ST_AsGeoJSON${WHOLE_ROW}::json), '[]'))`;
    case 'handler':
      return handlerSql(representation);
    case 'explain':
      return rowSql({ representation: representation.of, read, columns });
    case 'none':
      return 'count(*)::text';
  }
}

function isEmptyRow({ outputs }: ReadPlan): boolean {
  return outputs.every((output) => output.kind === 'one' && output.name === EMPTY_ROW);
}

function handlerSql({ handler }: Extract<RepresentationPlan, { kind: 'handler' }>): string {
  const { aggregate, appliesTo, isBinary } = handler;
  const row =
    appliesTo && aggregate
      ? `${WHOLE_ROW}::${quoteQualified(appliesTo.schema, appliesTo.name)}`
      : 'plinth_row.*';
  const value = aggregate
    ? `${quoteQualified(aggregate.schema, aggregate.name)}(${row})`
    : `plinth_row.${quoteIdentifier(SCALAR)}`;
  return encoded(value, isBinary);
}

/**
 * Bytes travel as base64: the driver takes what it gets for text. Others as PostgreSQL prints them, which for xml is not
 * what a cast gives. Of nothing, nothing is made.
 */
function encoded(value: string, isBinary: boolean): string {
  return isBinary ? `coalesce(encode(${value}::bytea, 'base64'), '')` : `format('%s', ${value})`;
}

function compileWrite(plan: WriteRequestPlan, input: CompileInput): CompiledStatement[] {
  const { write } = plan;
  if (write.kind === 'insert') {
    return compileInserts(write, input).map(({ builder, statement, expressions }) =>
      finish(builder, statement ?? resultSql(builder, plan, expressions), input),
    );
  }
  const builder = new StatementBuilder();
  if (write.kind === 'delete') {
    const text = compileDelete(builder, write);
    return [
      finish(
        builder,
        write.returning.kind === 'nothing' ? text : resultSql(builder, plan, [[RESULT, text]]),
        input,
      ),
    ];
  }
  if (write.columns.length + write.defaults.length === 0) {
    const none = compileNoUpdate(builder, write);
    return [
      finish(
        builder,
        write.returning.kind === 'nothing' ? none : resultSql(builder, plan, [[RESULT, none]]),
        input,
      ),
    ];
  }
  const { body, update } = compileUpdate(builder, write, {
    placeholder: builder.parameter({ kind: 'body', as: 'json' }),
    isList: input.bodyIsList,
  });
  const expressions: [string, string][] = body === null ? [] : [[BODY, body]];
  if (write.returning.kind === 'nothing') {
    const head = expressions.map(([name, text]) => `WITH ${quoteIdentifier(name)} AS (${text}) `);
    return [finish(builder, head.join('') + update, input)];
  }
  return [finish(builder, resultSql(builder, plan, [...expressions, [RESULT, update]]), input)];
}

/** The rows that were written, read like any others; for `headers-only` just as they were returned. */
function resultSql(
  builder: StatementBuilder,
  plan: Shown,
  expressions: readonly (readonly [string, string])[],
): string {
  if (plan.representation.kind === 'none') {
    const rows = `SELECT * FROM ${quoteIdentifier(RESULT)}`;
    const read: ReadPlan = { ...plan.read, outputs: [{ kind: 'all' }] };
    const whole: Shown = { ...plan, representation: { kind: 'rows', stripNulls: false }, read };
    return rowsSql(builder, whole, rows, expressions);
  }
  return rowsSql(builder, plan, compileShown(builder, plan), expressions);
}

function compileCalled(plan: CallRequestPlan, input: CompileInput): CompiledStatement {
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
  if (!countsBeside(plan)) {
    query.from(`(${rows})`, 'plinth_row').addSelect(value);
    return finish(builder, query.getQuery(), input);
  }
  const total = countSql(isScalar ? `SELECT FROM ${RESULT}` : compileCount(builder, read));
  if (ROW_BY_ROW.has(representation.kind)) {
    // Behind the last page the total stands alone, beside null: a value of null is written out, to tell them apart.
    query.from(`(${total})`, 'plinth_counted').leftJoin(`(${rows})`, 'plinth_row', 'TRUE');
    query.addSelect(`CASE WHEN ${WHOLE_ROW} IS DISTINCT FROM NULL THEN coalesce(${value}, 'null') END`);
    query.addSelect('plinth_counted."plinth_total"');
  } else {
    query.from(`(${rows})`, 'plinth_row').addSelect(`${value}, (${total})`);
  }
  return finish(builder, query.getQuery(), input);
}

/** The others make one value of all rows. */
const ROW_BY_ROW: ReadonlySet<RepresentationPlan['kind']> = new Set(['rows', 'object', 'ndjson', 'csv']);

function countSql(query: string): string {
  return `SELECT count(*)::text AS "plinth_total" FROM (${query}) plinth_counted`;
}

/** A function runs once: what it gave is counted in the same statement. */
function countsBeside({ count, read, call }: CallRequestPlan): boolean {
  return count !== null && call.routine.returnsSet && (read.limit !== null || read.offset > 0);
}

function scalarSql(plan: Shown): string {
  const { representation } = plan;
  const { kind } = representation;
  if (kind === 'none' || kind === 'csv' || kind === 'handler') return rowSql(plan);
  const value = `to_json(plinth_row."${SCALAR}")`;
  const strips = (kind === 'rows' || kind === 'object') && representation.stripNulls;
  return strips ? `json_strip_nulls(${value})` : value;
}

function explained(
  representation: RepresentationPlan,
  main: readonly CompiledStatement[],
  input: CompileInput,
): readonly CompiledStatement[] {
  if (representation.kind !== 'explain') return main;
  const options = [`FORMAT ${representation.format}`, ...representation.options].join(', ');
  return main.map(({ text, parameters }) => {
    const explain = `EXPLAIN (${options}) ${text}`;
    return { text: explain, parameters, name: nameOf(explain, input), row: null };
  });
}

function compileCounts(
  plan: RequestPlan,
  input: CompileInput,
): Pick<CompiledRequest, 'exactCount' | 'plannedCount'> {
  const { count, read, countLimit } = plan;
  const isCounted = plan.kind === 'read' && plan.representation.kind !== 'explain';
  if (!isCounted || count === null) return { exactCount: null, plannedCount: null };
  const counted = (make: (query: string) => string): CompiledStatement => {
    const builder = new StatementBuilder();
    return finish(builder, make(compileCount(builder, read)), input);
  };
  const guesses = count === 'planned' || (count === 'estimated' && countLimit !== null);
  // Without a window the rows of the answer are all rows.
  const isWhole = read.limit === null && read.offset === 0;
  const limit = guesses && countLimit !== null ? ` LIMIT ${countLimit + 1}` : '';
  return {
    exactCount: count === 'planned' || isWhole ? null : counted((query) => countSql(query + limit)),
    plannedCount: guesses ? counted((query) => `EXPLAIN (FORMAT JSON) ${query}`) : null,
  };
}

function finish(
  builder: StatementBuilder,
  query: string,
  input: CompileInput,
  row: JsonRow | null = null,
): CompiledStatement {
  const { text, parameters } = builder.finish(query);
  return { text, parameters, name: nameOf(text, input), row };
}

/** PostgreSQL keeps 63 bytes of a name; the door puts the role before this. */
function nameOf(text: string, { catalogVersion }: CompileInput): string {
  return catalogVersion + digestOf(text);
}

/** Most requests have a text that came before, and looking it up is cheaper than hashing it. */
const DIGESTS = new LRUCache<string, string>({ max: 2_000 });

function digestOf(text: string): string {
  const known = DIGESTS.get(text);
  if (known !== undefined) return known;
  const digest = createHash('sha1').update(text).digest('base64url').slice(0, 20);
  DIGESTS.set(text, digest);
  return digest;
}
