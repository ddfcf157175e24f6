/** Functions as the clients' types expect them: overloads as a union, computed fields and relationships by their row. */
import { nameKey, type QualifiedName, type Routine } from '../rest/catalog/catalog';
import type { VisibleRelation } from '../visible-schema/visible-relation';
import { arrayOf, literal, type Member, objectType, orNull, unionOf } from './type-script';
import type { VisibleFunction } from '../visible-schema/visible-functions';
import type { VisibleSchema } from '../visible-schema/visible-schema';

interface Options {
  /** The type of the values of a type, by its name as format_type() writes it. */
  readonly typeText: (name: string) => string;
  /** The type of a relation's row; null where the role may not see it. */
  readonly rowPath: (name: QualifiedName) => string | null;
  /** The members of a relation's row without computed fields. */
  readonly columnsOf: (relation: VisibleRelation) => Member[];
}

interface FunctionEntry {
  readonly name: string;
  readonly comment: string | null;
  readonly type: () => string;
}

export class SupabaseFunctions {
  private readonly fields = new Map<string, Member[]>();

  constructor(
    private readonly schema: VisibleSchema,
    private readonly options: Options,
  ) {
    for (const one of schema.functions.flat()) {
      if (!one.isField || !one.rowOf || one.schema !== one.rowOf.schema) continue;
      const member = { name: one.name, type: orNull(options.typeText(one.result)) };
      const others = this.fields.get(nameKey(one.rowOf)) ?? [];
      this.fields.set(nameKey(one.rowOf), [...others, member]);
    }
  }

  /** A relation's computed fields that are not hidden by a column of the same name. */
  fieldsOf(relation: QualifiedName): Member[] {
    const visible = this.schema.relationsByName.get(nameKey(relation));
    const columns = new Set(visible?.columns.map(({ column }) => column.name));
    return (this.fields.get(nameKey(relation)) ?? []).filter(({ name }) => !columns.has(name));
  }

  entries(schema: string): FunctionEntry[] {
    return this.schema.functions.flatMap((overloads) => {
      const [first] = overloads;
      if (first.schema !== schema) return [];
      const comments = [...new Set(overloads.flatMap(({ comment }) => comment ?? []))];
      const type = (): string => unionOf(overloads.map((one) => this.functionType(one)));
      return [{ name: first.name, comment: comments.join('\n\n'), type }];
    });
  }

  private functionType(one: VisibleFunction): string {
    const options = this.setofOptions(one);
    return objectType([
      { name: 'Args', type: this.argumentsType(one) },
      { name: 'Returns', type: this.resultType(one) },
      ...(options === null ? [] : [{ name: 'SetofOptions', type: options }]),
    ]);
  }

  /** The clients recognize a computed field by its single argument without a name, and leave the field out of `*`. */
  private argumentsType({ routine, rowOf, isField }: VisibleFunction): string {
    if (rowOf && (isField || !routine)) {
      return objectType([{ name: '', type: this.options.rowPath(rowOf) ?? 'unknown' }]);
    }
    const declared = routine?.arguments ?? [];
    if (declared.length === 0) return 'never';
    return objectType(
      declared.map(({ name, type, required }) => ({
        name,
        type: this.options.typeText(type),
        isOptional: !required,
      })),
    );
  }

  private resultType({
    schema,
    name,
    routine,
    result,
    returnsSet,
    isField,
    leadsTo,
  }: VisibleFunction): string {
    if (isField) {
      const text = `${schema}.${name} is a computed field: it can be selected, but not called`;
      return `{ error: true } & ${literal(text)}`;
    }
    const one = routine ? this.rowOf(routine, result) : this.relationRow(leadsTo?.to);
    return (leadsTo ? !leadsTo.toOne : returnsSet) ? arrayOf(one) : one;
  }

  private rowOf(routine: Routine, result: string): string {
    if (routine.relation) return this.relationRow(routine.relation);
    if (routine.result === 'void') return 'undefined';
    if (routine.result !== 'composite' || routine.columns.size === 0) return this.options.typeText(result);
    const columns = [...routine.columns.values()];
    return objectType(
      columns.map(({ name, declaredType }) => ({ name, type: this.options.typeText(declaredType) })),
    );
  }

  private relationRow(name: QualifiedName | undefined): string {
    const visible = name && this.schema.relationsByName.get(nameKey(name));
    return visible?.maySelect ? objectType(this.options.columnsOf(visible)) : '{ [key: string]: unknown }';
  }

  /** The clients use these to type `select` on the result, and embedding by a computed relationship. */
  private setofOptions({ schema, routine, rowOf, leadsTo, returnsSet }: VisibleFunction): string | null {
    const to = leadsTo?.to ?? routine?.relation;
    if (!to || to.schema !== schema || this.options.rowPath(to) === null) return null;
    const isEmbedded = leadsTo !== null && rowOf?.schema === schema;
    return objectType([
      { name: 'from', type: literal(isEmbedded && rowOf ? rowOf.name : '*') },
      { name: 'to', type: literal(to.name) },
      { name: 'isOneToOne', type: String(leadsTo ? leadsTo.toOne : !returnsSet) },
      { name: 'isSetofReturn', type: String(returnsSet) },
    ]);
  }
}
