/** The filters of one relation: a parameter for each column whose name generated clients can hold. */
import type { Parameter, Reference } from '../openapi/model';
import { schemaRef } from '../../visible-schema/json-schema';
import { typeFilter, filterSchemaName } from '../table-rest/filter-schemas';
import { SHARED_PARAMETERS } from '../table-rest/rest-parameters';
import type { DescribedVerb } from '../table-rest/table-operations';
import { hasParameter, pascalCase, queryName } from './names';
import { typeOf } from '../../visible-schema/relation-shapes';
import type { TypeSchemas } from '../../visible-schema/type-schemas';
import type { VisibleColumn, VisibleRelation } from '../../visible-schema/visible-relation';

type Filters = Pick<DescribedVerb, 'filters' | 'note' | 'parameters'>;

export type FiltersOfRelation = Readonly<Record<'select' | 'update' | 'delete', Filters>>;

export interface ColumnFiltersOptions {
  readonly types: TypeSchemas;
  /** Registers a shared parameter under a name that begins with that of the relation. */
  readonly component: (name: string, parameter: Parameter) => Reference;
}

export function columnFilters(
  { columns, primaryKey }: VisibleRelation,
  { types, component }: ColumnFiltersOptions,
): FiltersOfRelation {
  const readable = columns.filter(({ maySelect }) => maySelect);
  const filtered = readable.filter(({ column }) => hasParameter(column.name));
  const references = new Map(
    filtered.map((one) => [one, component(`Filter${pascalCase(one.column.name)}`, filterOf(one, types))]),
  );
  const filters = (given: readonly VisibleColumn[]): Filters => ({
    filters: given.map((one) => references.get(one) as Reference),
    note: unlistedNote(readable.filter((one) => !given.includes(one))),
  });
  // OpenAPI cannot require any one of several parameters, so one of them is required.
  const change = (given: readonly VisibleColumn[]): Filters => {
    const key = keyOf(primaryKey, given);
    const { filters: all, note } = filters(given);
    return {
      filters: all.map((one, index) => (key && given[index] === key ? required(key, types) : one)),
      note,
      ...(!key && { parameters: { And: requiredAnd(readable) } }),
    };
  };
  return {
    select: filters(filtered),
    // Some generators use this name for the request's body.
    update: change(filtered.filter(({ column }) => column.name !== 'body')),
    delete: change(filtered),
  };
}

/** Null if every column has its own filter. */
function unlistedNote(unlisted: readonly VisibleColumn[]): string | null {
  const names = unlisted.map(({ column }) => queryName(column.name));
  if (names.length === 0) return null;
  const listed = names.map((name) => `\`${name}\``).join(', ');
  return `There is no parameter to filter by ${listed}; use \`and\` instead: \`and=(${names[0]}.not.is.null)\`.`;
}

function filterOf({ column, comment }: VisibleColumn, types: TypeSchemas): Parameter {
  const { family, example } = typeFilter(typeOf(column), types);
  return {
    name: queryName(column.name),
    in: 'query',
    description: comment ?? `Filter by ${column.name}`,
    schema: { ...schemaRef(filterSchemaName(family)), ...(example === null ? {} : { examples: [example] }) },
  };
}

/** The column that PATCH and DELETE require: the first of the primary key, or else the first that cannot be null. */
function keyOf(primaryKey: readonly string[], given: readonly VisibleColumn[]): VisibleColumn | undefined {
  return (
    given.find(({ column }) => column.name === primaryKey[0]) ??
    given.find(({ column }) => !column.nullable) ??
    given[0]
  );
}

function required(one: VisibleColumn, types: TypeSchemas): Parameter {
  const { column } = one;
  const sample = types.sampleOf(typeOf(column));
  const every = column.nullable ? 'isdistinct. and a value that does not occur' : 'not.is.null';
  const filter = filterOf(one, types);
  return {
    ...filter,
    required: true,
    // Values that cannot be compared have no operator `eq`. No example may select every row.
    example: isScalar(sample) ? `eq.${sample}` : 'is.null',
    description: `${filter.description ?? ''}\n\nRequired, because a request without any filter is refused with 400. To filter by other columns only, pass \`${every}\`.`,
  };
}

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

function requiredAnd([first]: readonly VisibleColumn[]): Parameter {
  const { description = '' } = SHARED_PARAMETERS.And;
  return {
    ...SHARED_PARAMETERS.And,
    required: true,
    description: `${description}\n\nRequired, because a request without any filter is refused with 400.`,
    example: `(${queryName(first?.column.name ?? 'id')}.not.is.null)`,
  };
}
