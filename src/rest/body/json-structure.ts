/**
 * What plans have to know of a JSON body: whether it is an object or a list of them, and which members they name. Values are
 * PostgreSQL's to read.
 */
import { isJsonObject } from '../../common/text/json';
import { RowShapes } from './row-shapes';

export interface JsonStructure {
  /** `mixed` is a list of which some are objects, `other` whatever has none at its top. */
  readonly kind: 'object' | 'list' | 'mixed' | 'other';
  readonly rows: RowShapes;
}

/** @param text of a size that parses in milliseconds; @throws SyntaxError for what is no JSON */
export function structureOf(text: string): JsonStructure {
  const value = JSON.parse(text) as unknown;
  const rows = new RowShapes();
  const objects = [value].flat().filter(isJsonObject);
  for (const object of objects) rows.addRow(object);
  return { kind: kindOf(Array.isArray(value) ? value.length : null, rows.count), rows };
}

/**
 * @param length of the list; null where the body is none
 * @param objects among its elements, or the body itself
 */
export function kindOf(length: number | null, objects: number): JsonStructure['kind'] {
  if (length === null) return objects === 1 ? 'object' : 'other';
  if (objects === length) return 'list';
  return objects > 0 ? 'mixed' : 'other';
}
