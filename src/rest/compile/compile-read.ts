/** A read plan as TypeORM builder calls: one SelectQueryBuilder per level, embeds as lateral joins. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type {
  EmbedPlan,
  OrderPlan,
  ReadPlan,
  RepresentationPlan,
  RequestPlan,
  SourcePlan,
} from '../plan/plan';
import { isAggregate } from '../plan/plan-read';
import { conditionSql } from './filter-sql';
import { aliasReference, fieldSql, routineSql, type RowReference } from './field-sql';
import { outputSql } from './output-sql';
import type { Select, StatementBuilder } from './statement-builder';

/** The common table expression with the rows of a write or a function. */
export const RESULT = 'plinth_result';

/** A media type handler takes records whose embeds are jsonb, as PostgREST's do. */
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
      // The row's type chooses the overload, and rows of a common table expression have lost it.
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

/** By position: an expression with parameters is not the same expression a second time. */
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
    // TypeORM keeps one order per expression, the last; a repeated one changes nothing anyway.
    if (seen.has(value)) continue;
    seen.add(value);
    query.addOrderBy(value, direction === 'desc' ? 'DESC' : 'ASC', nulls ? NULLS[nulls] : undefined);
  }
}

const NULLS = { nullsfirst: 'NULLS FIRST', nullslast: 'NULLS LAST' } as const;

/**
 * Not by the builder, which prints both numbers: an offset in the text would make each page a statement of its own. The
 * limit is printed, because PostgreSQL plans better when it knows the limit.
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

/** One row with the list of all rows. An empty list is null, so that an inner join can drop the parent. */
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

/** The rows that a read would give without its window, for counting: `SELECT 1 ...`. */
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
