/** A relation's columns as members of object types: as read, inserted and updated. */
import { type Catalog, representationKey } from '../../rest/catalog/catalog';
import type { VisibleColumn, VisibleRelation } from '../project/visible-relation';
import { type Member, orNull } from './type-script';
import type { TypeTexts } from './type-texts';

export interface ColumnTextsOptions {
  readonly catalog: Catalog;
  readonly types: TypeTexts;
  /** True to write the comments of columns. */
  readonly withComments: boolean;
}

export class ColumnTexts {
  constructor(private readonly options: ColumnTextsOptions) {}

  row({ columns }: VisibleRelation): Member[] {
    return columns
      .filter(({ maySelect }) => maySelect)
      .map((column) => this.member(column, this.output(column), false));
  }

  /** A column is required if it has no default and cannot be null. */
  insert({ columns }: VisibleRelation): Member[] {
    return columns
      .filter(({ mayInsert }) => mayInsert)
      .map((one) => this.member(one, this.input(one), one.column.nullable || one.column.hasDefault));
  }

  update({ columns }: VisibleRelation): Member[] {
    return columns
      .filter(({ mayUpdate }) => mayUpdate)
      .map((column) => this.member(column, this.input(column), true));
  }

  private member({ column, comment }: VisibleColumn, type: string, isOptional: boolean): Member {
    return {
      name: column.name,
      type: column.nullable ? orNull(type) : type,
      isOptional,
      comment: this.options.withComments ? comment : null,
    };
  }

  /** A domain with a cast to json for output, or from json for input, may have any shape. */
  private output({ column: { declaredType } }: VisibleColumn): string {
    const { catalog, types } = this.options;
    const isRepresented = catalog.representations.has(representationKey(declaredType, 'json'));
    return isRepresented ? 'Json' : types.of(declaredType);
  }

  private input({ column: { declaredType } }: VisibleColumn): string {
    const { catalog, types } = this.options;
    const isRepresented = catalog.representations.has(representationKey('json', declaredType));
    return isRepresented ? 'Json' : types.of(declaredType);
  }
}
