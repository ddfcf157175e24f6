/**
 * The structure of a JSON body, as far as plans depend on it: whether it is an object or a list of objects, and the names of
 * their members. PostgreSQL reads the values.
 */
import { isJsonObject } from '../../common/text/json';
import { RowShapes } from './row-shapes';

export interface JsonStructure {
  /** `mixed` is a list with objects and other elements; `other` has no object at its top level. */
  readonly kind: 'object' | 'list' | 'mixed' | 'other';
  readonly rows: RowShapes;
}

/** @param text of a size that parses in milliseconds; @throws SyntaxError for text that is not JSON */
export function structureOf(text: string): JsonStructure {
  const value: unknown = JSON.parse(text);
  const rows = new RowShapes();
  const objects = [value].flat().filter(isJsonObject);
  for (const object of objects) rows.addRow(object);
  return { kind: kindOf(Array.isArray(value) ? value.length : null, rows.count), rows };
}

/**
 * @param length of the body's list; null if the body is not a list
 * @param objects number of objects among its elements, or 1 if the body itself is an object
 */
export function kindOf(length: number | null, objects: number): JsonStructure['kind'] {
  if (length === null) return objects === 1 ? 'object' : 'other';
  if (objects === length) return 'list';
  return objects > 0 ? 'mixed' : 'other';
}
