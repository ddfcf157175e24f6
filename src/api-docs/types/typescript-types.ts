/** `lang=typescript`: a type for each row, enum, composite type, and for arguments and results of functions. */
import { nameKey, type Routine } from '../../rest/catalog/catalog';
import type { ObjectNames } from '../project/object-names';
import type { TypeFacts } from '../project/project-facts';
import type { VisibleRelation } from '../project/visible-relation';
import { ColumnTexts } from './column-texts';
import { arrayOf, docComment, literal, type Member, objectType, orNull, unionOf } from './type-script';
import { JSON_TYPE, TypeTexts } from './type-texts';
import type { CallableFunction } from '../project/visible-functions';
import { typeName, type VisibleSchema } from '../project/visible-schema';

/** Yields a declaration at a time. */
export function* typescriptTypes(schema: VisibleSchema, names: ObjectNames): Generator<string> {
  yield* new TypescriptTypes(schema, names).write();
}

class TypescriptTypes {
  private readonly types: TypeTexts;
  private readonly columns: ColumnTexts;

  constructor(
    private readonly schema: VisibleSchema,
    private readonly names: ObjectNames,
  ) {
    const { declaredTypes, catalog, relationsByName } = schema;
    this.types = new TypeTexts({
      types: schema.types,
      declared: new Map(declaredTypes.map(typeName).map((name) => [nameKey(name), names.type(name)])),
      rowOf: (name) => (relationsByName.get(nameKey(name))?.maySelect ? names.relation(name).schema : null),
    });
    this.columns = new ColumnTexts({ catalog, types: this.types, withComments: true });
  }

  *write(): Generator<string> {
    const { declaredTypes, relations, callable } = this.schema;
    yield JSON_TYPE;
    for (const type of declaredTypes) yield this.declaredType(type);
    for (const relation of relations) yield this.relation(relation);
    for (const overloads of callable) yield this.functionTypes(overloads);
  }

  private declaredType(type: TypeFacts): string {
    const name = this.names.type(typeName(type));
    const text = type.labels
      ? unionOf(type.labels.map(literal))
      : objectType(
          (type.attributes ?? []).map(([attribute, of]) => ({
            name: attribute,
            type: orNull(this.types.of(of)),
          })),
        );
    return declaration(name, text, type.comment);
  }

  private relation(one: VisibleRelation): string {
    const name = this.names.relation(one.relation).schema;
    const declared = (suffix: string, members: readonly Member[], comment: string | null = null): string =>
      declaration(name + suffix, objectType(members), comment);
    return [
      ...(one.maySelect ? [declared('', this.columns.row(one), one.comment)] : []),
      ...(one.mayInsert ? [declared('Insert', this.columns.insert(one))] : []),
      ...(one.mayUpdate ? [declared('Update', this.columns.update(one))] : []),
    ].join('');
  }

  /** Overloads share their types: the alternatives of each are a union. */
  private functionTypes(overloads: readonly CallableFunction[]): string {
    const called = overloads.filter(({ isField }) => !isField);
    const [first] = called;
    if (!first) return '';
    const name = this.names.routine(first);
    const comments = [...new Set(called.flatMap(({ comment }) => comment ?? []))];
    const args = unionOf(called.map((one) => this.argumentsOf(one)));
    const result = unionOf(called.map((one) => this.resultOf(one)));
    return declaration(`${name}Args`, args, comments.join('\n\n')) + declaration(`${name}Result`, result);
  }

  /** The body of the call: an object of named arguments, or the value of one without a name. */
  private argumentsOf({ routine }: CallableFunction): string {
    const declared = routine.arguments;
    const [only] = declared;
    if (!only) return '{ [key: string]: never }';
    if (only.name === '') return this.types.of(only.type);
    return objectType(
      declared.map(({ name, type, required }) => ({
        name,
        type: orNull(this.types.of(type)),
        isOptional: !required,
      })),
    );
  }

  private resultOf({ routine, result, returnsSet }: CallableFunction): string {
    if (routine.result === 'void') return 'undefined';
    const one = routine.result === 'scalar' ? orNull(this.types.of(result)) : this.rowOf(routine, result);
    return returnsSet ? arrayOf(one) : one;
  }

  private rowOf(routine: Routine, result: string): string {
    if (routine.relation || routine.columns.size === 0) return this.types.of(result);
    const columns = [...routine.columns.values()];
    return objectType(
      columns.map(({ name, declaredType }) => ({ name, type: orNull(this.types.of(declaredType)) })),
    );
  }
}

function declaration(name: string, type: string, comment: string | null = null): string {
  return `\n${docComment(comment)}export type ${name} = ${type};\n`;
}
