/** The outputs of a level as expressions of its SELECT list. */
import { quoteIdentifier } from '../../database/sql/identifier';
import type { AggregatePlan, EmbedPlan, OutputPlan } from '../plan/plan';
import { fieldSql, routineSql, type RowReference } from './field-sql';
import type { StatementBuilder } from './statement-builder';
import { typeName } from './type-name';

/** @param asJsonb whether embeds are jsonb, not json */
export function outputSql(
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
  // The embed also has the columns by which the parent orders, which the client did not select.
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
