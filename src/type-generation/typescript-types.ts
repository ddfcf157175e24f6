/** `lang=typescript`: a type for each row, enum, composite type, and for arguments and results of functions. */
import { nameKey, type QualifiedName } from '../rest/catalog/catalog';
import { type Schema, schemaRef } from '../visible-schema/json-schema';
import type { ObjectNames } from '../api-docs/project/object-names';
import { typeName } from '../visible-schema/project-facts';
import { namedArguments, type ResultOptions, resultSchema } from '../visible-schema/routine-schemas';
import { TypeSchemas } from '../visible-schema/type-schemas';
import type { CallableFunction } from '../visible-schema/visible-functions';
import type { VisibleSchema } from '../visible-schema/visible-schema';
import { declaredType, shapeMembers } from './shape-members';
import { arrayOf, docComment, JSON_TYPE, objectType, typeOf, unionOf } from './type-script';

/** Yields one declaration at a time. */
export function* typescriptTypes(schema: VisibleSchema, names: ObjectNames): Generator<string> {
  const { declaredTypes, relations, callable, catalog, readable } = schema;
  const declared = new Set(declaredTypes.map((type) => nameKey(typeName(type))));
  const rowOf = (name: QualifiedName): Schema | null =>
    readable.has(nameKey(name)) ? schemaRef(names.relation(name).schema) : null;
  const nameOf = (name: QualifiedName): string | null =>
    declared.has(nameKey(name)) ? names.type(name) : null;
  const types = new TypeSchemas(schema.types, { nameOf, rowOf });
  yield JSON_TYPE;
  for (const type of declaredTypes)
    yield declaration(names.type(typeName(type)), declaredType(type, types), type.comment);
  for (const one of relations) {
    const name = names.relation(one.relation).schema;
    for (const [shape, suffix] of [
      ['row', ''],
      ['insert', 'Insert'],
      ['update', 'Update'],
    ] as const) {
      const members = shapeMembers(one, shape, { catalog, types });
      if (members) yield declaration(name + suffix, objectType(members), suffix === '' ? one.comment : null);
    }
  }
  for (const overloads of callable) yield functionTypes(overloads, names, { types, rowOf });
}

/** Overloads share their types: the alternatives of each are a union. */
function functionTypes(
  overloads: readonly CallableFunction[],
  names: ObjectNames,
  options: ResultOptions,
): string {
  const called = overloads.filter(({ isField }) => !isField);
  const [first] = called;
  if (!first) return '';
  const name = names.routine(first);
  const comments = [...new Set(called.flatMap(({ comment }) => comment ?? []))];
  const args = unionOf(called.map((one) => argumentsOf(one, options.types)));
  const result = unionOf(called.map((one) => resultOf(one, options)));
  return declaration(`${name}Args`, args, comments.join('\n\n')) + declaration(`${name}Result`, result);
}

/** The body of the call: an object of named arguments, or the value of one without a name. */
function argumentsOf({ routine }: CallableFunction, types: TypeSchemas): string {
  const [only] = routine.arguments;
  if (!only) return '{ [key: string]: never }';
  if (only.name === '') return typeOf(types.of(only.type));
  return typeOf({ required: [], ...namedArguments(routine.arguments, types) });
}

function resultOf({ routine, result, returnsSet }: CallableFunction, options: ResultOptions): string {
  if (routine.result === 'void') return 'undefined';
  const one = typeOf(resultSchema(routine, result, options));
  return returnsSet ? arrayOf(one) : one;
}

function declaration(name: string, type: string, comment: string | null = null): string {
  return `\n${docComment(comment)}export type ${name} = ${type};\n`;
}
