/** The parameters of one relation: a filter for each column, and the lists of columns with their examples. */
import { type Catalog, nameKey, type Relationship } from '../../rest/catalog/catalog';
import { type Example, type Parameter, parameterRef, type Reference } from '../openapi/model';
import { SHARED_PARAMETERS } from '../table-rest/rest-parameters';
import type { OwnParameters } from '../table-rest/table-operations';
import { columnFilters, type FiltersOfRelation } from './column-filters';
import { NameAllocator, nameInList } from './names';
import type { TypeSchemas } from '../../visible-schema/type-schemas';
import type { VisibleColumn, VisibleRelation } from '../../visible-schema/visible-relation';

/** Names of components for the parameters of a relation. */
export interface RelationParameters {
  readonly components: ReadonlyMap<string, Parameter>;
  readonly filters: FiltersOfRelation;
  readonly own: OwnParameters;
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
  return {
    components,
    filters: columnFilters(visible, { types, component }),
    own: {
      Select: component('Select', selectOf(visible, readable, options)),
      Order: component('Order', orderOf(visible, readable)),
    },
  };
}

function selectOf(
  { relation }: VisibleRelation,
  readable: readonly VisibleColumn[],
  options: RelationParametersOptions,
): Parameter {
  const embeds = embedsOf(options.catalog.relationships.get(nameKey(relation)) ?? [], options);
  const columns = readable.slice(0, 2).map(({ column }) => nameInList(column.name));
  const examples: Record<string, Example> = { all: { summary: 'All columns', value: '*' } };
  if (columns.length > 0) examples.columns = { summary: 'Some columns', value: columns.join(',') };
  for (const [index, { text, meaning }] of embeds.slice(0, SHOWN_EMBEDS).entries())
    examples[`embed${index + 1}`] = { summary: meaning, value: `*,${text}` };
  const lines = embeds.map(({ text, meaning }) => `* \`${text}\`: ${meaning}`);
  const { example: _plain, description, ...shared } = SHARED_PARAMETERS.Select;
  const texts = [description, ...(lines.length > 0 ? ['Related rows:', lines.join('\n')] : [])];
  return { ...shared, description: texts.join('\n\n'), examples };
}

interface Embed {
  readonly text: string;
  readonly meaning: string;
}

/** An embed for each relationship to a relation that the role may read, written so that it is not ambiguous. */
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
