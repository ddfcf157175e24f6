/**
 * Names of a project's objects in generated code (DECISIONS.md 7): `order_items` gives `OrderItems`. They are valid as
 * components of an OpenAPI document and as identifiers of TypeScript: ASCII letters, digits and `_`.
 */
import type { QualifiedName } from '../rest/catalog/catalog';
import { pascalCase } from './project/names';

/** The schemas of a relation: its row, `OrderItemsInsert`, `OrderItemsUpdate`. */
export const RELATION_SUFFIXES = ['', 'Insert', 'Update'] as const;

export class SchemaNames {
  private readonly taken: Set<string>;

  /** @param reserved names that the document uses otherwise */
  constructor(
    private readonly defaultSchema: string,
    reserved: Iterable<string> = [],
  ) {
    this.taken = new Set(reserved);
  }

  /**
   * Names the objects of one kind. The result does not depend on their order. Earlier calls win: name relations
   * first, so that a new function never renames a table.
   * @param suffixes endings of the names that each object needs
   * @param keyOf the key of an object in the result
   */
  nameAll<Item extends QualifiedName>(
    objects: Iterable<Item>,
    suffixes: readonly string[],
    keyOf: (object: Item) => string,
  ): Map<string, string> {
    const inOrder = [...objects].sort((a, b) => this.compare(a, b));
    return new Map(inOrder.map((object) => [keyOf(object), this.claim(object, suffixes)]));
  }

  /** On a clash the schema's name comes first; if that name is taken too, a number follows. */
  private claim({ schema, name }: QualifiedName, suffixes: readonly string[]): string {
    const own = pascalCase(name);
    const qualified = pascalCase(schema) + own;
    const candidates = schema === this.defaultSchema ? [own, qualified] : [qualified];
    for (let number = 2; ; number++) {
      for (const candidate of candidates) {
        const names = suffixes.map((suffix) => candidate + suffix);
        if (names.some((one) => this.taken.has(one))) continue;
        for (const one of names) this.taken.add(one);
        return candidate;
      }
      candidates.splice(0, candidates.length, qualified + number);
    }
  }

  /** The default schema first; within a schema names in snake_case first, because they are the usual ones. */
  private compare(a: QualifiedName, b: QualifiedName): number {
    const rank = ({ schema }: QualifiedName): number => Number(schema !== this.defaultSchema);
    return (
      rank(a) - rank(b) ||
      compareText(a.schema, b.schema) ||
      Number(!isSnakeCase(a.name)) - Number(!isSnakeCase(b.name)) ||
      compareText(a.name, b.name)
    );
  }
}

function isSnakeCase(name: string): boolean {
  return /^[a-z0-9]+(_[a-z0-9]+)*$/.test(name);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
