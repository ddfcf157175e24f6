/** Pieces of TypeScript. Names, literals and comments come from a stranger's database and are escaped. */
import { type Schema, schemaRef } from '../visible-schema/json-schema';

export interface Member {
  readonly name: string;
  readonly type: string;
  readonly isOptional?: boolean;
  readonly comment?: string | null;
}

export const JSON_TYPE = `export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];\n`;

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
/** A single object type of objectType(): all lines between its braces are indented. */
const ONE_OBJECT = /^\{\n(?: .*\n)*\}$/;
const NO_MEMBERS = '{ [_ in never]: never }';

/** A JSON string is a string literal of TypeScript as well; line separators are escaped, because text is indented by line. */
export function literal(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

export function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : literal(name);
}

/** An object type, one line per member. */
export function objectType(members: readonly Member[]): string {
  if (members.length === 0) return NO_MEMBERS;
  const lines = members.map(
    ({ name, type, isOptional, comment }) =>
      `${docComment(comment)}${propertyName(name)}${isOptional ? '?' : ''}: ${type};`,
  );
  return `{\n${indented(lines.join('\n'))}\n}`;
}

export function unionOf(types: readonly string[]): string {
  return types.length === 0 ? 'never' : [...new Set(types)].join(' | ');
}

export function arrayOf(type: string): string {
  const isOne = ONE_OBJECT.test(type) || !/[|&]/.test(type);
  return isOne ? `${type}[]` : `(${type})[]`;
}

export function orNull(type: string): string {
  return type === 'unknown' || type === 'never' ? type : `${type} | null`;
}

const ANY_OBJECT = '{ [key: string]: unknown }';

/** The type of the values that a schema describes. A reference is the name of its component. */
export function typeOf(schema: Schema): string {
  const { $ref, anyOf, enum: values, type, items = {}, properties, required, additionalProperties } = schema;
  if ($ref !== undefined) return $ref.slice(schemaRef('').$ref.length);
  if (anyOf) return unionOf(anyOf.map(typeOf));
  if (values)
    return unionOf(
      values.map((value) => (typeof value === 'string' ? literal(value) : JSON.stringify(value))),
    );
  if (typeof type === 'object') return unionOf(type.map((one) => typeOf({ ...schema, type: one })));
  switch (type) {
    case undefined:
      return 'Json';
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayOf(typeOf(items));
    case 'object':
      if (typeof additionalProperties === 'object')
        return `{ [key: string]: ${typeOf(additionalProperties)} }`;
      return properties ? objectType(membersOf(properties, required)) : ANY_OBJECT;
    case 'string':
    case 'boolean':
    case 'null':
      return type;
  }
}

function membersOf(properties: Readonly<Record<string, Schema>>, required?: readonly string[]): Member[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    isOptional: required !== undefined && !required.includes(name),
  }));
}

/** A comment with a line break after it; empty without text. */
export function docComment(text: string | null | undefined): string {
  const lines = (text ?? '')
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.trimEnd());
  if (lines.every((line) => line === '')) return '';
  const [only, ...others] = lines;
  if (others.length === 0) return `/** ${only} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

/** @param depth number of levels, of two spaces each */
export function indented(text: string, depth = 1): string {
  return text.replace(/^(?=.)/gm, '  '.repeat(depth));
}
