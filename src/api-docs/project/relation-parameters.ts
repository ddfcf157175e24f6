/** The parameters of one relation: a filter for each column, and the lists of columns with examples of its own. */
import { type Catalog, nameKey, type Relationship } from '../../rest/catalog/catalog';
import { type Example, type Parameter, parameterRef, type Reference, schemaRef } from '../openapi/model';
import { filterSchemaName } from '../table-rest/filter-schemas';
import { SHARED_PARAMETERS } from '../table-rest/rest-parameters';
import { NameAllocator, nameInList, pascalCase, queryName } from './names';
import { typeOf } from './relation-schemas';
import type { TypeSchemas } from './type-schemas';
import type { VisibleColumn, VisibleRelation } from './visible-relation';

/** Names of components for the parameters of a relation. */
export interface RelationParameters {
  readonly components: ReadonlyMap<string, Parameter>;
  /** One for each column that the role may read. */
  readonly filters: readonly Reference[];
  /** The same; that of the first column is required. */
  readonly requiredFilters: readonly (Parameter | Reference)[];
  /** The same without a column `body`: some generators give the request's body that name. */
  readonly filtersBesideBody: readonly (Parameter | Reference)[];
  readonly select: Reference;
  readonly order: Reference;
  readonly columns: Reference;
  readonly onConflict: Reference;
}

export interface RelationParametersOptions {
  /** Prefix of component names. */
  readonly stem: string;
  readonly types: TypeSchemas;
  readonly catalog: Catalog;
  /** nameKey() of the functions that the role may execute or select. */
  readonly functionKeys: ReadonlySet<string>;
  /** nameKey() of the relations that the role may read. */
  readonly readable: ReadonlyMap<string, ReadonlySet<string>>;
  readonly allocator: NameAllocator;
}

/** Examples of embeds in `select`; a table with dozens of references lists the others in its description. */
const SHOWN_EMBEDS = 3;

export function relationParameters(
  visible: VisibleRelation,
  options: RelationParametersOptions,
): RelationParameters {
  const { stem, allocator, types } = options;
  const components = new Map<string, Parameter>();
  const component = (name: string, parameter: Parameter): Reference => {
    const taken = allocator.takeNumbered(`${stem}${name}`);
    components.set(taken, parameter);
    return parameterRef(taken);
  };
  const readable = visible.columns.filter(({ maySelect }) => maySelect);
  const parameters = readable.map((one) => filterOf(one, types));
  const filters = readable.map((one, index) =>
    component(`Filter${pascalCase(one.column.name)}`, parameters[index] as Parameter),
  );
  const key = keyIndex(visible, readable);
  const requiredFilter = (one: VisibleColumn): Parameter =>
    required(filterOf(one, types), one, types.sampleOf(typeOf(one.column)));
  const requiredFilters = filters.map((one, index) =>
    index === key ? requiredFilter(readable[index] as VisibleColumn) : one,
  );
  return {
    components,
    filters,
    requiredFilters,
    filtersBesideBody: requiredFilters.filter(
      (_, index) => index === key || readable[index]?.column.name !== 'body',
    ),
    select: component('Select', selectOf(visible, readable, options)),
    order: component('Order', orderOf(visible, readable)),
    columns: component('Columns', columnsOf(visible)),
    onConflict: component('OnConflict', onConflictOf(visible)),
  };
}

function filterOf({ column, comment }: VisibleColumn, types: TypeSchemas): Parameter {
  const { family, example } = types.filterOf(typeOf(column));
  return {
    name: queryName(column.name),
    in: 'query',
    description: comment ?? `Filter by ${column.name}`,
    schema: { ...schemaRef(filterSchemaName(family)), ...(example === null ? {} : { examples: [example] }) },
  };
}

/** Of the column that PATCH and DELETE require: the first of the primary key, or else the first that cannot be null. */
function keyIndex({ primaryKey }: VisibleRelation, readable: readonly VisibleColumn[]): number {
  const isKey = ({ column }: VisibleColumn): boolean => column.name === primaryKey[0];
  const notNull = readable.findIndex(({ column }) => !column.nullable);
  const key = readable.findIndex(isKey);
  return key >= 0 ? key : Math.max(notNull, 0);
}

/** OpenAPI cannot require any one of several parameters, so one of them is required. */
function required(parameter: Parameter, { column }: VisibleColumn, sample: unknown): Parameter {
  const every = column.nullable ? 'isdistinct. and a value that does not occur' : 'not.is.null';
  return {
    ...parameter,
    required: true,
    // Values that cannot be compared have no operator `eq`. No example may choose every row.
    example: isScalar(sample) ? `eq.${sample}` : 'is.null',
    description: `${parameter.description ?? ''}\n\nRequired, because a request without any filter is refused with 400. To choose rows by other columns alone, give \`${every}\`.`,
  };
}

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

function selectOf(
  { relation }: VisibleRelation,
  readable: readonly VisibleColumn[],
  options: RelationParametersOptions,
): Parameter {
  const embeds = embedsOf(options.catalog.relationships.get(nameKey(relation)) ?? [], options);
  const columns = readable
    .slice(0, 2)
    .map(({ column }) => nameInList(column.name))
    .join(',');
  const lines = embeds.map(({ text, meaning }) => `* \`${text}\`: ${meaning}`);
  const examples: [string, Example][] = [
    ['all', { summary: 'All columns', value: '*' }],
    ...(columns === ''
      ? []
      : [['columns', { summary: 'Some columns', value: columns }] as [string, Example]]),
    ...embeds
      .slice(0, SHOWN_EMBEDS)
      .map(({ text, meaning }, index): [string, Example] => [
        `embed${index + 1}`,
        { summary: meaning, value: `*,${text}` },
      ]),
  ];
  const embedding = lines.length > 0 ? `\n\nRelated rows:\n\n${lines.join('\n')}` : '';
  const { example: _plain, description, ...shared } = SHARED_PARAMETERS.Select;
  return {
    ...shared,
    description: `${description}${embedding}`,
    examples: Object.fromEntries(examples),
  };
}

interface Embed {
  readonly text: string;
  readonly meaning: string;
}

/** One for each relationship to a relation that the role may read, written so that it is not ambiguous. */
function embedsOf(
  relationships: readonly Relationship[],
  { readable, functionKeys }: RelationParametersOptions,
): Embed[] {
  const seen = relationships.filter((one) => {
    if (!readable.has(nameKey(one.to))) return false;
    if (one.kind === 'computed') return functionKeys.has(nameKey(one.routine));
    if (one.to.schema !== one.from.schema) return false;
    return one.kind !== 'many-to-many' || readable.has(nameKey(one.junction));
  });
  const embeds = seen.map((one): Embed => ({ text: `${embedName(one, seen)}(*)`, meaning: meaningOf(one) }));
  return [...new Map(embeds.map((one) => [one.text, one])).values()].sort((a, b) =>
    a.text < b.text ? -1 : 1,
  );
}

function embedName(one: Relationship, all: readonly Relationship[]): string {
  if (one.kind === 'computed') return nameInList(one.routine.name);
  const name = nameInList(one.to.name);
  if (one.isSelf && one.kind === 'many-to-one') return nameInList(one.columns[0]?.[0] ?? one.to.name);
  const others = all.filter(({ kind, to }) => kind !== 'computed' && nameKey(to) === nameKey(one.to));
  if (others.length === 1 || one.isSelf) return name;
  const hint = one.kind === 'many-to-many' ? one.junction.name : one.constraint;
  return `${name}!${nameInList(hint)}`;
}

function meaningOf(one: Relationship): string {
  switch (one.kind) {
    case 'many-to-one':
      return `the row of ${one.to.name} that ${columnsIn(one.columns)} refers to, or null (${one.constraint})`;
    case 'one-to-one':
      return `the one row of ${one.to.name}, or null (${one.constraint})`;
    case 'one-to-many':
      return `the rows of ${one.to.name} that refer to this one (${one.constraint})`;
    case 'many-to-many':
      return `the rows of ${one.to.name} over ${one.junction.name}`;
    case 'computed':
      return `${one.toOne ? 'a row' : 'rows'} of ${one.to.name} by the function ${one.routine.name}`;
  }
}

const columnsIn = (pairs: readonly (readonly [near: string, far: string])[]): string =>
  pairs.map(([near]) => near).join(', ');

function orderOf({ primaryKey }: VisibleRelation, readable: readonly VisibleColumn[]): Parameter {
  const column = nameInList(primaryKey[0] ?? readable[0]?.column.name ?? 'id');
  return { ...SHARED_PARAMETERS.Order, example: `${column}.desc` };
}

function columnsOf({ columns }: VisibleRelation): Parameter {
  const written = columns.filter(({ mayInsert, mayUpdate }) => mayInsert || mayUpdate);
  const example = written.map(({ column }) => nameInList(column.name)).join(',');
  return withExampleInText(SHARED_PARAMETERS.Columns, example);
}

function onConflictOf({ primaryKey }: VisibleRelation): Parameter {
  const example = primaryKey.map(nameInList).join(',');
  return withExampleInText(SHARED_PARAMETERS.OnConflict, example);
}

/** Pages that try requests out send an example as it is; without these parameters, the request has its usual meaning. */
function withExampleInText(parameter: Parameter, example: string): Parameter {
  if (example === '') return parameter;
  return { ...parameter, description: `${parameter.description ?? ''}: \`${example}\`` };
}
