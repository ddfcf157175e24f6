/** A project's types as types of TypeScript: the values that table REST writes and reads as JSON. */
import { nameKey, type QualifiedName } from '../../rest/catalog/catalog';
import { builtinSchema, isGeometry } from '../project/builtin-types';
import type { TypeFacts } from '../project/project-facts';
import { arrayOf, literal, unionOf } from './type-script';

/** Limit for domains over domains: a catalog that was read during DDL could contain a cycle. */
const MAX_DEPTH = 32;

export const JSON_TYPE = `export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];\n`;

const ANY_OBJECT = '{ [key: string]: unknown }';

/** Types that are no columns' types, but results and arguments of functions. */
const PSEUDO_TYPES: Readonly<Record<string, string>> = {
  void: 'undefined',
  record: ANY_OBJECT,
  anyarray: 'unknown[]',
  anycompatiblearray: 'unknown[]',
};

export interface TypeTextsOptions {
  readonly types: ReadonlyMap<string, TypeFacts>;
  /** The name of a declared enum or composite type, by nameKey(). */
  readonly declared: ReadonlyMap<string, string>;
  /** The type of a relation's row; null where the role may not see it. */
  readonly rowOf: (name: QualifiedName) => string | null;
}

export class TypeTexts {
  constructor(private readonly options: TypeTextsOptions) {}

  /** @param name as format_type() writes it; a type that the role may not use is described by its shape alone */
  of(name: string, depth = 0): string {
    if (name.endsWith('[]')) return arrayOf(this.of(name.slice(0, -2), depth));
    const type = this.options.types.get(name);
    if (!type) return builtinText(name);
    switch (type.kind) {
      case 'e':
        return this.declaredName(type) ?? labelsOf(type);
      case 'd':
        return type.base === null || depth > MAX_DEPTH ? 'unknown' : this.of(type.base, depth + 1);
      case 'c':
        return this.rowType(type);
      case 'b':
      case 'r':
      case 'm':
        return builtinText(name);
    }
  }

  private rowType(type: TypeFacts): string {
    const name = { schema: type.schema, name: type.type_name };
    return (type.attributes ? this.declaredName(type) : this.options.rowOf(name)) ?? ANY_OBJECT;
  }

  private declaredName({ schema, type_name: name }: TypeFacts): string | undefined {
    return this.options.declared.get(nameKey({ schema, name }));
  }
}

/** An enum of a schema that is not exposed. */
function labelsOf({ usable, labels }: TypeFacts): string {
  return usable ? unionOf((labels ?? []).map(literal)) : 'string';
}

function builtinText(name: string): string {
  if (Object.hasOwn(PSEUDO_TYPES, name)) return PSEUDO_TYPES[name] as string;
  if (/^"?any/.test(name) || isGeometry(name)) return 'unknown';
  const { type } = builtinSchema(name);
  switch (type) {
    case undefined:
      return 'Json';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'object':
      return '{ [key: string]: string | null }';
    default:
      return 'string';
  }
}
