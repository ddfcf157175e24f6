/**
 * One statement while it is compiled: TypeORM's query builders, the parameters, and the names that TypeORM would misread.
 */
import { randomBytes } from 'node:crypto';
import { DataSource, type SelectQueryBuilder, type ObjectLiteral } from 'typeorm';
import type { QualifiedName } from '../catalog/catalog';
import type { FilterValue, Slot, TextsByName } from '../grammar/query-values';

export type Select = SelectQueryBuilder<ObjectLiteral>;

/** Never connects: only its query builders and their numbering of parameters are used. */
const BUILDERS = new DataSource({ type: 'postgres' });

/**
 * TypeORM replaces `:name` anywhere in the text, quoted names included, wherever a parameter of that name
 * exists. So our parameters, and the marks below, have names that cannot be guessed.
 */
const SECRET = randomBytes(8).toString('hex');

/**
 * TypeORM splits a table's path at dots and treats a path in parentheses as a sub-query. Such characters in names are replaced by
 * marks until the text is built. It does not support LATERAL either: a mark turns a join with a sub-query into one.
 */
const MARKS: Readonly<Record<string, string>> = {
  '.': `dot${SECRET}`,
  '(': `open${SECRET}`,
  ')': `close${SECRET}`,
};
/** TypeORM copies the columns of an UPDATE into an object, on which this name is not a member. */
const PROTO = '__proto__';
const PROTO_MARK = `proto${SECRET}`;
const LATERAL = `/*${SECRET}*/`;
const JOIN_LATERAL = new RegExp(`JOIN \\(/\\*${SECRET}\\*/`, 'g');
const MARKED = new RegExp(`(?:dot|open|close|proto)${SECRET}`, 'g');
const UNMARKED: Readonly<Record<string, string>> = Object.fromEntries(
  [...Object.entries(MARKS), [PROTO, PROTO_MARK] as const].map(([text, mark]) => [mark, text]),
);

export class StatementBuilder {
  private readonly parameters: Record<string, Parameter> = {};
  private count = 0;
  private hasMarks = false;
  private hasLateral = false;

  /** A placeholder for a value. It has no type: PostgreSQL infers one from the context. */
  parameter(value: Parameter): string {
    const name = `p${SECRET}_${this.count}`;
    this.count += 1;
    this.parameters[name] = value;
    return `:${name}`;
  }

  select(): Select {
    return (BUILDERS.createQueryBuilder() as Select).select([]);
  }

  /** @param set the expression of each column */
  update(relation: QualifiedName, set: ReadonlyMap<string, () => string>) {
    if (set.has(PROTO)) this.hasMarks = true;
    const members = [...set].map(([name, value]) => [name === PROTO ? PROTO_MARK : name, value] as const);
    return BUILDERS.createQueryBuilder().update(this.path(relation)).set(Object.fromEntries(members));
  }

  delete(relation: QualifiedName) {
    return BUILDERS.createQueryBuilder().delete().from(this.path(relation));
  }

  /** A relation's path for TypeORM. */
  path({ schema, name }: QualifiedName): string {
    return `${this.mark(schema)}.${this.mark(name)}`;
  }

  /** A sub-query to join with, which can refer to tables on its left. */
  lateral(query: string): string {
    this.hasLateral = true;
    return `(${LATERAL}${query})`;
  }

  /** The finished text with numbered parameters, and the parameters. */
  finish(query: string): { text: string; parameters: Parameter[] } {
    let text = query;
    if (this.hasLateral) text = text.replace(JOIN_LATERAL, 'JOIN LATERAL (');
    const [numbered, parameters] = BUILDERS.driver.escapeQueryWithParameters(text, this.parameters);
    // Done last: the restored characters of a name must not be read as a parameter.
    const final = this.hasMarks ? numbered.replace(MARKED, (mark) => UNMARKED[mark] ?? mark) : numbered;
    return { text: final, parameters: parameters as Parameter[] };
  }

  private mark(name: string): string {
    if (!/[.()]/.test(name)) return name;
    this.hasMarks = true;
    return name.replace(/[.()]/g, (character) => MARKS[character] ?? character);
  }
}

/** The request's body: JSON that is read into rows, the text of one argument, or its bytes. */
export interface BodyParameter {
  readonly kind: 'body';
  readonly as: 'json' | 'text' | 'bytes';
}

/** A filter's value: unchanged, with `*` as the wildcard of LIKE, or a list. */
export interface FilterParameter {
  readonly kind: 'filter';
  readonly slot: Slot;
  readonly as: 'text' | 'pattern' | 'list';
}

/** A function's argument from the query string or a form: its last text, or all of its texts. */
export interface ArgumentParameter {
  readonly kind: 'argument';
  readonly name: string;
  readonly as: 'text' | 'list';
}

/** A text or number is a constant of the statement: a key of a JSON path, a language, an offset. */
export type Parameter = string | number | BodyParameter | FilterParameter | ArgumentParameter;

export interface RequestValues {
  /** Indexed by slot. */
  readonly filters: readonly FilterValue[];
  readonly arguments: TextsByName;
  /** Null if there is none. */
  readonly body: string | Buffer | null;
}

/** PostgreSQL's text of an array (manual, 8.15.2), each element quoted. */
export function arrayLiteral(values: readonly string[]): string {
  const elements = values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return `{${elements.join(',')}}`;
}
