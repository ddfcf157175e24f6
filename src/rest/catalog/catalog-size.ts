import type { Catalog } from './catalog';

/** Number of columns, relationships and functions of a catalog. Each takes about 300 bytes of memory. */
export function catalogSize({ relations, relationships, routines }: Catalog): number {
  let size = relations.size;
  for (const { columns, computed } of relations.values()) size += columns.size + computed.size;
  for (const some of relationships.values()) size += some.length;
  for (const overloads of routines.values()) size += overloads.length;
  return size;
}
