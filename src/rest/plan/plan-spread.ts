/**
 * Aggregates inside a to-one spread are computed in the level above it, because the spread's own query has at
 * most one row.
 * Example: `/projects?select=client_id,...project_invoices(invoice_total.sum())`
 */
import type { EmbedPlan, OutputPlan } from './plan';

export interface Hoisted {
  /** The embed without its aggregates. */
  readonly embed: EmbedPlan;
  /** The outputs that the parent takes over. */
  readonly hoisted: OutputPlan[];
}

/** Used for the shape spread-row. */
export function hoistAggregates(embed: EmbedPlan): Hoisted {
  const shown = embed.columns === null ? embed.read.outputs.length : embed.columns.length;
  const pairs = embed.read.outputs.map((output, index) => ({
    own: withoutAggregate(output),
    above: index < shown ? hoist(embed.alias, output) : null,
  }));
  return {
    embed: { ...embed, read: { ...embed.read, outputs: pairs.map(({ own }) => own) } },
    hoisted: pairs.flatMap(({ above }) => (above ? [above] : [])),
  };
}

function withoutAggregate(output: OutputPlan): OutputPlan {
  switch (output.kind) {
    case 'field':
      return { ...output, aggregate: null };
    case 'spread':
      return { ...output, aggregate: null };
    case 'row-count':
      return { kind: 'one', name: output.name };
    case 'all':
    case 'one':
    case 'embed':
      return output;
  }
}

function hoist(embed: string, output: OutputPlan): OutputPlan | null {
  switch (output.kind) {
    case 'one':
      return null;
    case 'all':
      return { kind: 'spread', embed, column: null, isEmbed: false, aggregate: null, name: null };
    case 'row-count':
      return {
        kind: 'spread',
        embed,
        column: output.name,
        isEmbed: false,
        aggregate: { aggregate: 'count', cast: output.cast },
        name: output.name,
      };
    case 'embed':
      return {
        kind: 'spread',
        embed,
        column: output.name,
        isEmbed: true,
        aggregate: null,
        name: output.name,
      };
    case 'field':
    case 'spread':
      return {
        kind: 'spread',
        embed,
        column: output.name,
        isEmbed: output.kind === 'spread' && output.isEmbed,
        aggregate: output.aggregate,
        name: output.name,
      };
  }
}
