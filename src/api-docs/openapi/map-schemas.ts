/**
 * Applies a change to every schema of a part of a document. It follows the structure of OpenAPI, because a member
 * named `type` or `nullable` can be a column of a table.
 */
import type { Schema } from '../../visible-schema/json-schema';
import type { Method, Operation, PathItem } from './model';

/** Called with a schema whose inner schemas were already changed. */
export type SchemaChange = (schema: Schema) => Schema;

/** @param section the section of the document that the part belongs to */
export function mapPart<Part>(section: string, part: Part, change: SchemaChange): Part {
  return (section === 'schemas' ? mapSchema(part as Schema, change) : mapOther(part, change)) as Part;
}

/** A path, response, parameter or header, or a part of one. */
function mapOther(node: unknown, change: SchemaChange): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((one) => mapOther(one, change));
  return mapValues(node as Readonly<Record<string, unknown>>, (value, name) => {
    if (name === 'schema') return mapSchema(value as Schema, change);
    return name === 'example' || name === 'examples' ? value : mapOther(value, change);
  });
}

export function mapSchema(schema: Schema, change: SchemaChange): Schema {
  const inner = (one: Schema): Schema => mapSchema(one, change);
  const { properties, items, additionalProperties, allOf, oneOf, anyOf, not } = schema;
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, inner) }),
    ...(items && { items: inner(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    ...(allOf && { allOf: allOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(not && { not: inner(not) }),
  });
}

export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  to: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value, name)]));
}

export const mapOperations = (
  item: PathItem,
  to: (operation: Operation, method: Method) => Operation,
): PathItem =>
  mapValues(item as Readonly<Record<string, Operation>>, (one, method) => to(one, method as Method));
