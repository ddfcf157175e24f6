/** The names of a read's columns, in order: the header line of CSV. Names may repeat. */
import type { Catalog } from '../catalog/catalog';
import { nameKey } from '../catalog/catalog';
import type { ReadPlan } from './plan';

/** @param ofResult columns of the rows that a write or a function returns */
export function columnNames(catalog: Catalog, plan: ReadPlan, ofResult: readonly string[]): string[] {
  return plan.outputs.flatMap((output): readonly string[] => {
    if (output.kind === 'all') return allNames(catalog, plan, ofResult);
    if (output.kind !== 'spread' || output.column !== null) return [output.name ?? ''];
    const embed = plan.embeds.find(({ alias }) => alias === output.embed);
    return embed ? columnNames(catalog, embed.read, []) : [];
  });
}

function allNames(catalog: Catalog, { source }: ReadPlan, ofResult: readonly string[]): readonly string[] {
  if (source.kind === 'result') return ofResult;
  return [...(catalog.relations.get(nameKey(source.relation))?.columns.keys() ?? [])];
}
