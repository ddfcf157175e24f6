/**
 * The columns of the written rows (or of a function's result) that the rest of the request needs, and no
 * others, because RETURNING requires SELECT on each column.
 */
import type { FieldPlan, ReadPlan, ReturningPlan } from './plan';

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

function columnField(name: string): FieldPlan {
  return { base: { kind: 'column', name }, path: [], toJsonb: false, isTsvector: false, parse: null };
}
