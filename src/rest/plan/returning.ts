/**
 * The columns of the written rows (or of a function's result) that the rest of the request needs, and no
 * others, because RETURNING requires SELECT on each column.
 */
import type { FieldPlan, ReadPlan, ReturningPlan } from './plan';
import { type Catalog, nameKey } from '../catalog/catalog';

export function returningFor(read: ReadPlan): ReturningPlan {
  const needsRow =
    read.outputs.some(({ kind }) => kind === 'all') ||
    read.embeds.some(({ read: embedded }) => embedded.source.kind === 'computed');
  if (needsRow) return { kind: 'all' };
  const fields = new Map<string, FieldPlan>();
  const add = (field: FieldPlan): void =>
    void fields.set(nameOf(field), { ...field, path: [], toJsonb: false });
  for (const output of read.outputs) if (output.kind === 'field') add(output.field);
  for (const { by } of read.order) if (by.kind === 'field') add(by.field);
  for (const { joins } of read.embeds.map((embed) => embed.read)) {
    for (const { left } of joins) if (left.alias === read.alias) add(columnField(left.column));
  }
  return { kind: 'fields', fields: [...fields.values()] };
}

/** The name of a returned field; a computed field has the name of its function. */
export function nameOf({ base }: FieldPlan): string {
  return base.kind === 'column' ? base.name : base.routine.name;
}

export function columnField(name: string): FieldPlan {
  return { base: { kind: 'column', name }, path: [], toJsonb: false, isTsvector: false, parse: null };
}

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
