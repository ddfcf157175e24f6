/**
 * The catalog for people who may not run SQL: what the project's OpenAPI document tells of tables and views. Nothing in it can be
 * written, and policies are unknown.
 */
import type { Column, Relation } from './catalog-types';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly 'x-postgres-type'?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

export interface ProjectDocument {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface TableFacts {
  readonly schema: string;
  readonly name: string;
  readonly rls_enabled: boolean;
  readonly estimated_rows: number;
}

const TABLE = /\/rest\/v1\/([^/{}]+)$/;

/** @param exposed schemas of table REST; the first one has no prefix in paths */
export function catalogFromDocument(
  document: ProjectDocument,
  tables: readonly TableFacts[],
  exposed: readonly string[],
): Relation[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    const encoded = TABLE.exec(path)?.[1];
    const row = get?.responses?.['200']?.content?.['application/json']?.schema?.items;
    if (encoded === undefined || !row) return [];
    const { schema, name } = placeOf(decodeURIComponent(encoded), exposed);
    const facts = tables.find((one) => one.schema === schema && one.name === name);
    const columns = Object.entries(resolved(document, row).properties ?? {});
    return [
      {
        schema,
        name,
        kind: facts ? 'table' : 'view',
        comment: null,
        rows: facts?.estimated_rows ?? -1,
        bytes: 0,
        rls: facts?.rls_enabled ?? false,
        columns: columns.map(([column, value]) => columnOf(document, column, value)),
        primaryKey: columns
          .filter(([, { description }]) => description?.includes('<pk/>'))
          .map(([column]) => column),
        foreignKeys: [],
        indexes: [],
        policies: null,
      } satisfies Relation,
    ];
  });
}

function placeOf(path: string, exposed: readonly string[]): { schema: string; name: string } {
  const schema = exposed.slice(1).find((one) => path.startsWith(`${one}.`));
  if (schema !== undefined) return { schema, name: path.slice(schema.length + 1) };
  return { schema: exposed[0] ?? 'public', name: path };
}

function columnOf(document: ProjectDocument, name: string, value: Schema): Column {
  const schema = resolved(document, value.anyOf?.[0] ?? value);
  const type = value['x-postgres-type'] ?? schema['x-postgres-type'] ?? 'text';
  return {
    name,
    type,
    category: categoryOf(type),
    nullable: true,
    default: null,
    always: true,
    labels: null,
    comment: null,
  };
}

function resolved({ components }: ProjectDocument, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (components.schemas[name] ?? {});
}

function categoryOf(type: string): string {
  if (type.endsWith('[]')) return 'A';
  if (/^(small|big)?int|^numeric|^real|^double/.test(type)) return 'N';
  if (type === 'boolean') return 'B';
  return /^(date|time)/.test(type) ? 'D' : 'S';
}
