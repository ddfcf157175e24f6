/**
 * The values of a query, separate from its shape. Requests of the same shape share a plan and its SQL. The
 * shape contains slots in place of values, so a plan cannot contain a value of another request.
 */

/** One `name=value` of the query string, decoded, in the client's order. A name without `=` is left out. */
export interface QueryParameter {
  readonly name: string;
  readonly value: string;
}

/** The text of one value, or the list of values of `in.(1,2)`. */
export type FilterValue = string | readonly string[];

declare const SLOT: unique symbol;

/** Index of a value in QueryValues.filters. */
export type Slot = number & { readonly [SLOT]: true };

/** Texts by name; each name has all of its texts, in order. */
export type TextsByName = ReadonlyMap<string, readonly string[]>;

export interface QueryValues {
  /** The values of filters, indexed by slot. */
  readonly filters: readonly FilterValue[];
  /** Parameters of a function that are not filters. */
  readonly arguments: TextsByName;
  /** The whole query string as decoded pairs, for Content-Location. */
  readonly parameters: readonly QueryParameter[];
}

/** A mark in the text of a shape: ends each part, and replaces each value. Names and values of a query never contain NUL. */
const NUL = '\0';

const NO_TEXTS: TextsByName = new Map();

/** The text of the shape and the values of a query, collected while it is parsed. */
export class QueryParts {
  private readonly filters: FilterValue[] = [];
  private arguments: [name: string, text: string][] | null = null;
  private shape = '';
  /** Start of the part after the last value in the text that is being parsed. */
  private rest = 0;

  /** Adds a text without values, such as a name. */
  add(text: string): void {
    this.shape += text + NUL;
    this.rest = 0;
  }

  /** Adds the value from `start` to `end` in `text`. */
  takeValue(value: FilterValue, text: string, start: number, end: number): Slot {
    this.shape += text.slice(this.rest, start) + NUL;
    this.rest = end;
    return (this.filters.push(value) - 1) as Slot;
  }

  /** Ends a text that may contain values. */
  endText(text: string): void {
    this.add(text.slice(this.rest));
  }

  takeArgument(name: string, text: string): void {
    this.add(name);
    (this.arguments ??= []).push([name, text]);
  }

  /** Returns the result of `parse`. If it throws, drops the shape and the values that it collected. */
  attempt<Result>(parse: () => Result): Result {
    const [shape, count] = [this.shape, this.filters.length];
    try {
      return parse();
    } catch (error) {
      this.shape = shape;
      this.filters.length = count;
      throw error;
    }
  }

  /** A text that is equal for two queries if and only if they differ only in values. */
  shapeText(): string {
    return this.shape;
  }

  values(parameters: readonly QueryParameter[]): QueryValues {
    const { filters, arguments: named } = this;
    return { filters, arguments: named === null ? NO_TEXTS : textsByName(named), parameters };
  }
}

export function textsByName(pairs: Iterable<readonly [name: string, text: string]>): TextsByName {
  const texts = new Map<string, string[]>();
  for (const [name, text] of pairs) {
    const before = texts.get(name);
    if (before) before.push(text);
    else texts.set(name, [text]);
  }
  return texts;
}
