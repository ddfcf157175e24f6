/** The parameters of compiled statements. Compiling knows what a value is for; the value itself is each request's own. */
import type { FilterValue, Slot, TextsByName } from '../grammar/query-values';

/** The request's body: JSON that is read into rows, the text of one argument, or its bytes. */
export interface BodyParameter {
  readonly kind: 'body';
  readonly as: 'json' | 'text' | 'bytes';
}

/** A filter's value: as it is, with `*` for the wildcard of LIKE, or a list. */
export interface FilterParameter {
  readonly kind: 'filter';
  readonly slot: Slot;
  readonly as: 'text' | 'pattern' | 'list';
}

/** A function's argument of the query string or a form: its last text, or all of them. */
export interface ArgumentParameter {
  readonly kind: 'argument';
  readonly name: string;
  readonly as: 'text' | 'list';
}

/** A text or number stands for itself: a key of a JSON path, a language, an offset. It is a part of the shape. */
export type Parameter = string | number | BodyParameter | FilterParameter | ArgumentParameter;

export interface RequestValues {
  /** By slot. */
  readonly filters: readonly FilterValue[];
  readonly arguments: TextsByName;
  /** Null without one. */
  readonly body: string | Buffer | null;
}

/** PostgreSQL's text of an array (manual, 8.15.2), each element quoted. */
export function arrayLiteral(values: readonly string[]): string {
  const elements = values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return `{${elements.join(',')}}`;
}
