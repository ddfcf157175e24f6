/** A read plan as TypeORM builder calls: one SelectQueryBuilder per level, embeds as lateral joins. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type {
  EmbedPlan,
  OrderPlan,
  ReadPlan,
  RepresentationPlan,
  RequestPlan,
  SourcePlan,
  AggregatePlan,
  OutputPlan,
} from '../plan/plan';
import { isAggregate } from '../plan/plan-read';
import { conditionSql } from './filter-sql';
import { aliasReference, fieldSql, routineSql, type RowReference } from './field-sql';
import { type Select, StatementBuilder } from './statement-builder';
import { castName } from '../plan/plan-cast';
import {
  type CompileInput,
  type CompiledRequest,
  type CompiledStatement,
  finish,
} from './compiled-statement';

/** The common table expression with the rows of a write or a function. */
export const RESULT = 'plinth_result';

/** A media type handler expects records whose embeds are jsonb, as in PostgREST. */
export function compileShown(
  builder: StatementBuilder,
  { read, representation }: Pick<RequestPlan, 'read' | 'representation'>,
): string {
  return compileRead(builder, read, isHandlers(representation));
}

function isHandlers(representation: RepresentationPlan): boolean {
  return representation.kind === 'explain'
    ? isHandlers(representation.of)
    : representation.kind === 'handler';
}

/**
 * The SELECT of a level with everything below it.
 * @param embedsJsonb whether embeds are jsonb, not json
 */
function compileRead(builder: StatementBuilder, plan: ReadPlan, embedsJsonb = false): string {
  const reference = aliasReference(plan.alias, plan.source.kind === 'result');
  const isGrouped = plan.outputs.some(isAggregate);
  // json can't be grouped by, jsonb can.
  const asJsonb = isGrouped || embedsJsonb;
  const query = from(builder, builder.select(), plan);
  for (const output of plan.outputs)
    query.addSelect(outputSql(builder, reference, output, plan.embeds, asJsonb));
  for (const embed of plan.embeds) joinEmbed(builder, query, embed);
  addConditions(builder, query, reference, plan);
  if (isGrouped) addGroups(query, plan);
  addOrder(builder, query, reference, plan.order);
  return query.getQuery() + windowSql(builder, plan);
}

function from(builder: StatementBuilder, query: Select, { source, alias, junction }: ReadPlan): Select {
  query.from(sourceSql(builder, source), alias);
  if (junction) query.addFrom(builder.path(junction.relation), junction.alias);
  return query;
}

function sourceSql(builder: StatementBuilder, source: SourcePlan): string {
  switch (source.kind) {
    case 'relation':
      return builder.path(source.relation);
    case 'result':
      return RESULT;
    case 'computed': {
      // The type of the row selects the overload, and rows of a common table expression have lost their type.
      const { routine, parent, parentType } = source;
      const row = `(${quoteIdentifier(parent)}.*)::${quoteQualified(parentType.schema, parentType.name)}`;
      return `(SELECT * FROM ${routineSql(routine)}(${row}))`;
    }
  }
}

function addConditions(
  builder: StatementBuilder,
  query: Select,
  reference: RowReference,
  { where, joins }: ReadPlan,
): void {
  for (const { left, right } of joins) query.andWhere(`${columnSql(right)} = ${columnSql(left)}`);
  for (const condition of where) query.andWhere(conditionSql(builder, reference, condition));
}

function columnSql({ alias, column }: { alias: string; column: string }): string {
  return `${quoteIdentifier(alias)}.${quoteIdentifier(column)}`;
}

/** Groups by position: an expression with parameters would differ from its second occurrence. */
function addGroups(query: Select, { outputs, order }: ReadPlan): void {
  outputs.forEach((output, index) => {
    if (!isAggregate(output)) query.addGroupBy(String(index + 1));
  });
  for (const { by } of order) {
    if (by.kind === 'embed') query.addGroupBy(columnSql({ alias: by.embed, column: by.column }));
  }
}

function addOrder(
  builder: StatementBuilder,
  query: Select,
  reference: RowReference,
  order: readonly OrderPlan[],
): void {
  const seen = new Set<string>();
  for (const { by, direction, nulls } of order) {
    const value =
      by.kind === 'field'
        ? fieldSql(builder, reference, by.field)
        : columnSql({ alias: by.embed, column: by.column });
    // TypeORM keeps one order per expression, the last one. A later order by the same expression has no effect anyway.
    if (seen.has(value)) continue;
    seen.add(value);
    query.addOrderBy(value, direction === 'desc' ? 'DESC' : 'ASC', nulls ? NULLS[nulls] : undefined);
  }
}

const NULLS = { nullsfirst: 'NULLS FIRST', nullslast: 'NULLS LAST' } as const;

/**
 * Not done by the builder, which prints both numbers: an offset in the text would make each page a different
 * statement. The limit is printed, because PostgreSQL plans better when it knows the limit.
 */
export function windowSql(
  builder: StatementBuilder,
  { limit, offset }: Pick<ReadPlan, 'limit' | 'offset'>,
): string {
  const limited = limit === null ? '' : ` LIMIT ${limit}`;
  return offset === 0 ? limited : `${limited} OFFSET ${builder.parameter(offset)}::bigint`;
}

function joinEmbed(builder: StatementBuilder, query: Select, embed: EmbedPlan): void {
  const rows = compileRead(builder, embed.read);
  const alias = quoteIdentifier(embed.alias);
  const isList = embed.shape === 'array' || embed.shape === 'spread-columns';
  const joined = builder.lateral(isList ? listSql(rows, embed) : rows);
  const condition = isList && embed.inner ? `${alias}."plinth_list" IS NOT NULL` : 'TRUE';
  if (embed.inner) query.innerJoin(joined, embed.alias, condition);
  else query.leftJoin(joined, embed.alias, condition);
}

/** Returns one row with the list of all rows. An empty list is null, so that an inner join can drop the parent. */
function listSql(rows: string, { shape, columns }: EmbedPlan): string {
  const lists =
    shape === 'spread-columns'
      ? (columns ?? []).map((name) => {
          const column = quoteIdentifier(name);
          return `, coalesce(json_agg(plinth_row.${column}), '[]') AS ${column}`;
        })
      : [];
  return `SELECT json_agg(plinth_row.*) AS "plinth_list"${lists.join('')} FROM (${rows}) plinth_row`;
}

/** The rows that a read would return without its window, for counting: `SELECT 1 ...`. */
export function compileCount(builder: StatementBuilder, plan: ReadPlan): string {
  const reference = aliasReference(plan.alias, plan.source.kind === 'result');
  const query = from(builder, builder.select(), plan);
  query.addSelect('1');
  // Only embeds that decide whether a row counts are joined.
  const deciding = plan.embeds.filter(
    ({ inner, alias }) => inner || plan.where.some((condition) => names(condition, alias)),
  );
  for (const embed of deciding) joinEmbed(builder, query, embed);
  addConditions(builder, query, reference, plan);
  return query.getQuery();
}

function names(condition: ReadPlan['where'][number], embed: string): boolean {
  if (condition.kind === 'group') return condition.terms.some((term) => names(term, embed));
  return condition.kind === 'embed' && condition.embed === embed;
}

/** @param asJsonb whether embeds are jsonb, not json */
function outputSql(
  builder: StatementBuilder,
  reference: RowReference,
  output: OutputPlan,
  embeds: readonly EmbedPlan[],
  asJsonb: boolean,
): string {
  switch (output.kind) {
    case 'all':
      return `${reference.row}.*`;
    case 'one':
      return `1 AS ${quoteIdentifier(output.name)}`;
    case 'row-count':
      return named(castSql('count(*)', output.cast), output.name);
    case 'field': {
      const value = fieldSql(builder, reference, output.field);
      const formatted = output.format ? `${routineSql(output.format)}(${value})` : value;
      return named(aggregateSql(castSql(formatted, output.cast), output.aggregate), output.name);
    }
    case 'spread': {
      const embed = quoteIdentifier(output.embed);
      if (output.column === null) return `${embed}.*`;
      const column = `${embed}.${quoteIdentifier(output.column)}`;
      const value = asJsonb && output.isEmbed ? `${column}::jsonb` : column;
      return named(aggregateSql(value, output.aggregate), output.name ?? output.column);
    }
    case 'embed': {
      const value = embedValueSql(output.embed, output.toOne, columnsOf(embeds, output.embed));
      return named(asJsonb ? `${value}::jsonb` : value, output.name);
    }
  }
}

function columnsOf(embeds: readonly EmbedPlan[], alias: string): readonly string[] | null {
  return embeds.find((embed) => embed.alias === alias)?.columns ?? null;
}

function embedValueSql(alias: string, toOne: boolean, columns: readonly string[] | null): string {
  const embed = quoteIdentifier(alias);
  if (!toOne) return `coalesce(${embed}."plinth_list", '[]')`;
  if (columns === null) return `row_to_json(${embed}.*)`;
  // The embed also includes the columns by which the parent orders, which the client did not select.
  const shown = columns.map((column) => `${embed}.${quoteIdentifier(column)}`).join(', ');
  return `CASE WHEN (${embed}.*) IS DISTINCT FROM NULL THEN (SELECT row_to_json(plinth_shown.*) FROM (SELECT ${shown}) plinth_shown) END`;
}

function castSql(value: string, cast: string | null): string {
  return cast === null ? value : `CAST(${value} AS ${typeName(cast)})`;
}

function aggregateSql(value: string, aggregate: AggregatePlan | null): string {
  return aggregate === null ? value : castSql(`${aggregate.aggregate}(${value})`, aggregate.cast);
}

function named(value: string, name: string): string {
  return `${value} AS ${quoteIdentifier(name)}`;
}

/** Types whose names are keywords or consist of several words; a quoted name would mean another type. */
const KEYWORD_TYPES = new Set(
  (
    'bigint,bit,bit varying,boolean,char,char varying,character,character varying,dec,decimal,' +
    'double precision,float,int,integer,interval,json,national char,national character,nchar,numeric,' +
    'real,smallint,time,time with time zone,time without time zone,timestamp,timestamp with time zone,' +
    'timestamp without time zone,varchar'
  ).split(','),
);

/** Example: `select=id::double precision`. Other names are found on the search_path, like any type's. */
function typeName(cast: string): string {
  const name = castName(cast);
  return KEYWORD_TYPES.has(name) ? name : quoteIdentifier(name);
}

/** The statements that count all rows of a read. Its response contains one page of them. */
export function compileCounts(
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
  // Without a window, the response contains all rows.
  const isWhole = read.limit === null && read.offset === 0;
  const limit = guesses && countLimit !== null ? ` LIMIT ${countLimit + 1}` : '';
  return {
    exactCount: count === 'planned' || isWhole ? null : counted((query) => countSql(query + limit)),
    plannedCount: guesses ? counted((query) => `EXPLAIN (FORMAT JSON) ${query}`) : null,
  };
}

/** Returns one row with the number as text. */
export function countSql(query: string): string {
  return `SELECT count(*)::text AS "plinth_total" FROM (${query}) plinth_counted`;
}
