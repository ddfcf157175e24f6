/** The operations on one relation, as a role may use them, with rows of it as examples. */
import type { MediaType, Parameter, PathItem } from '../openapi/model';
import { listOf, schemaRef } from '../../visible-schema/json-schema';
import { tableOperations } from '../table-rest/table-operations';
import { hasParameter, queryName } from './names';
import type { RelationStems } from './object-names';
import type { RelationParameters } from './relation-parameters';
import { typeOf } from '../../visible-schema/relation-shapes';
import type { TypeSchemas } from '../../visible-schema/type-schemas';
import type { VisibleColumn, VisibleRelation } from '../../visible-schema/visible-relation';

export interface RelationPathsOptions {
  readonly stems: RelationStems;
  /** The name in a URL. */
  readonly address: string;
  readonly parameters: RelationParameters;
  readonly types: TypeSchemas;
}

export function relationPaths(visible: VisibleRelation, options: RelationPathsOptions): PathItem {
  const { maySelect, mayInsert, mayUpdate, mayDelete, primaryKey, columns, comment } = visible;
  const { parameters, address, stems, types } = options;
  const { select, update, delete: removal } = parameters.filters;
  const insertable = new Set(columns.filter((one) => one.mayInsert).map(({ column }) => column.name));
  // The body of a PUT must contain the key, but an identity ALWAYS accepts no value. Its query must have the key, too.
  const mayGive = (name: string): boolean => insertable.has(name) && hasParameter(name) && name !== 'body';
  const mayPut = maySelect && mayInsert && mayUpdate && primaryKey.length > 0 && primaryKey.every(mayGive);
  const id = (verb: string): string => `${verb}${stems.operation}`;
  const body = (shape: 'Insert' | 'Update', example: Row): MediaType => ({
    schema: schemaRef(`${stems.schema}${shape}`),
    example,
  });
  const replaced = newRow(visible, types, primaryKey);
  return tableOperations({
    title: address,
    tag: tagOf(address, stems),
    comment,
    verbs: {
      select: maySelect && { id: id('select'), ...select },
      insert: mayInsert && { id: id('insert'), filters: [], body: body('Insert', newRow(visible, types)) },
      upsert: mayPut && {
        id: id('upsert'),
        filters: primaryKey.map((name) => keyFilter(name, replaced[name])),
        body: body('Insert', replaced),
      },
      update: mayUpdate && { id: id('update'), ...update, body: body('Update', change(visible, types)) },
      delete: mayDelete && { id: id('delete'), ...removal },
    },
    rows: maySelect ? { schema: listOf(schemaRef(stems.schema)) } : null,
    parameters: parameters.own,
  });
}

const keyFilter = (name: string, sample: unknown): Parameter => ({
  name: queryName(name),
  in: 'query',
  required: true,
  description: 'eq.value, the same value as in the body',
  schema: { type: 'string', pattern: '^eq\\.' },
  example: `eq.${String(sample)}`,
});

type Row = Readonly<Record<string, unknown>>;

/** An example with the columns that a new row needs. @param key columns that it always has */
function newRow(visible: VisibleRelation, types: TypeSchemas, key: readonly string[] = []): Row {
  const written = visible.columns.filter(({ mayInsert }) => mayInsert);
  const needed = written.filter(
    ({ column: { name, nullable, hasDefault } }) => key.includes(name) || (!nullable && !hasDefault),
  );
  return sampleRow(needed.length > 0 ? needed : written.slice(0, 1), written, types);
}

/** An example with one column that is not part of the key. */
function change(visible: VisibleRelation, types: TypeSchemas): Row {
  const written = visible.columns.filter(({ mayUpdate }) => mayUpdate);
  const others = written.filter(({ column }) => !visible.primaryKey.includes(column.name));
  const notNull = others.find(({ column }) => !column.nullable);
  return sampleRow(
    [notNull ?? others[0] ?? written[0]].filter((one) => one !== undefined),
    written,
    types,
  );
}

/**
 * Includes columns such as `constructor`: in examples without them, linters written in JavaScript find the method of that name.
 * Ajv ignores the property `__proto__` of a schema, so linters refuse examples with it.
 */
function sampleRow(
  chosen: readonly VisibleColumn[],
  written: readonly VisibleColumn[],
  types: TypeSchemas,
): Row {
  const inherited = written.filter(
    (one) => one.column.name in {} && one.column.name !== '__proto__' && !chosen.includes(one),
  );
  return Object.fromEntries(
    [...chosen, ...inherited].map(({ column }) => [column.name, types.sampleOf(typeOf(column))]),
  );
}

/** Generators derive names of files and folders from a tag. */
export function tagOf(address: string, { schema }: RelationStems): string {
  return /^[\w. -]+$/.test(address) ? address : schema;
}
