/** The operations on one relation: select, insert, update, delete, and PUT by primary key. */
import {
  listOf,
  type Operation,
  type Parameter,
  type PathItem,
  type Response,
  type Schema,
  schemaRef,
} from '../openapi/model';
import { restErrors, type RestErrorStatus } from '../table-rest/rest-errors';
import {
  type AnswerHeader,
  answerHeaders,
  KEY_AND_BEARER,
  restParameters,
} from '../table-rest/rest-parameters';
import type { ColumnFilters } from './column-filters';
import { hasParameter, queryName } from './names';
import type { RelationStems } from './object-names';
import type { RelationParameters } from './relation-parameters';
import { typeOf } from './relation-schemas';
import type { TypeSchemas } from './type-schemas';
import type { VisibleColumn, VisibleRelation } from './visible-relation';

export interface RelationPathsOptions {
  readonly stems: RelationStems;
  /** The name in a URL. */
  readonly address: string;
  readonly parameters: RelationParameters;
  readonly types: TypeSchemas;
}

const ALWAYS: readonly RestErrorStatus[] = [300, 400, 401, 403, 404, 429, 500, 503];
const WITH_BODY: readonly RestErrorStatus[] = [...ALWAYS, 406, 408, 409, 413, 415];

export function relationPaths(visible: VisibleRelation, options: RelationPathsOptions): PathItem {
  const { maySelect, mayInsert, mayUpdate, mayDelete, primaryKey, columns } = visible;
  const insertable = new Set(columns.filter((one) => one.mayInsert).map(({ column }) => column.name));
  // The body of a PUT must contain the key, but an identity ALWAYS accepts no value. Its query must have the key, too.
  const mayGive = (name: string): boolean => insertable.has(name) && hasParameter(name) && name !== 'body';
  const mayGiveKey = primaryKey.length > 0 && primaryKey.every(mayGive);
  const mayPut = maySelect && mayInsert && mayUpdate && mayGiveKey;
  return {
    ...(maySelect ? { get: selectRows(visible, options) } : {}),
    ...(mayInsert ? { post: insertRows(visible, options) } : {}),
    ...(mayPut ? { put: putRow(visible, options) } : {}),
    ...(mayUpdate ? { patch: updateRows(visible, options) } : {}),
    ...(mayDelete ? { delete: deleteRows(options) } : {}),
  };
}

function selectRows({ comment }: VisibleRelation, options: RelationPathsOptions): Operation {
  const { parameters, address, stems } = options;
  const description = `The rows of ${address} that match the filters and that row-level security lets the caller see.`;
  return {
    ...head(
      'select',
      `Select rows of ${address}`,
      [comment, description, byAnd(parameters.filters.select)],
      options,
    ),
    parameters: [
      ...parameters.filters.select.parameters,
      parameters.select,
      parameters.order,
      ...restParameters('Limit', 'Offset', 'And', 'Or', 'Range', 'PreferRead', 'ConsistencyToken'),
    ],
    responses: {
      200: rows('The rows', stems, 'Content-Range', 'Content-Location', 'Preference-Applied'),
      206: rows(
        'A part of the rows, if a count was requested',
        stems,
        'Content-Range',
        'Content-Location',
        'Preference-Applied',
      ),
      ...restErrors(...ALWAYS, 406, 416),
    },
  };
}

function insertRows(visible: VisibleRelation, options: RelationPathsOptions): Operation {
  const { parameters, address, stems } = options;
  const { maySelect } = visible;
  const insert = schemaRef(`${stems.schema}Insert`);
  const description =
    'Inserts one row, or a list of rows, all or none. With `Prefer: resolution=merge-duplicates`, existing rows are updated.';
  return {
    ...head('insert', `Insert rows into ${address}`, [description], options),
    parameters: [
      ...(maySelect ? [parameters.select, parameters.order] : []),
      parameters.columns,
      parameters.onConflict,
      ...restParameters('PreferInsert'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { oneOf: [insert, listOf(insert)] },
          example: newRow(visible, options),
        },
      },
    },
    responses: {
      ...(maySelect ? { 200: rows('The rows of an upsert that only updated rows', stems, ...WRITTEN) } : {}),
      201: maySelect
        ? rows('The new rows; no body with return=minimal or headers-only', stems, ...WRITTEN, 'Location')
        : {
            description: 'Inserted; the rows are not returned because the role may not read them',
            headers: answerHeaders(...WRITTEN),
          },
      ...restErrors(...WITH_BODY),
    },
  };
}

const WRITTEN: readonly AnswerHeader[] = ['Content-Range', 'Preference-Applied'];

function putRow(visible: VisibleRelation, options: RelationPathsOptions): Operation {
  const { parameters, address, stems } = options;
  const row = newRow(visible, options, visible.primaryKey);
  const description = 'Inserts the row with the primary key in the URL, or replaces it if it exists.';
  return {
    ...head('upsert', `Insert or replace a row of ${address}`, [description], options),
    parameters: [
      ...visible.primaryKey.map((name): Parameter => ({
        name: queryName(name),
        in: 'query',
        required: true,
        description: 'eq.value, the same value as in the body',
        schema: { type: 'string', pattern: '^eq\\.' },
        example: `eq.${String(row[name])}`,
      })),
      parameters.select,
      parameters.columns,
      ...restParameters('PreferPut'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef(`${stems.schema}Insert`), example: row } },
    },
    responses: {
      200: rows('The replaced row', stems, 'Preference-Applied'),
      201: rows('The new row', stems, 'Preference-Applied'),
      204: none('With return=minimal or headers-only', 'Preference-Applied'),
      ...restErrors(...WITH_BODY, 405),
    },
  };
}

type Row = Readonly<Record<string, unknown>>;

/** An example with the columns that a new row needs. @param key columns that it has in any case */
function newRow(visible: VisibleRelation, options: RelationPathsOptions, key: readonly string[] = []): Row {
  const written = visible.columns.filter(({ mayInsert }) => mayInsert);
  const needed = written.filter(
    ({ column: { name, nullable, hasDefault } }) => key.includes(name) || (!nullable && !hasDefault),
  );
  const chosen = needed.length > 0 ? needed : written.slice(0, 1);
  return sampleRow([...chosen, ...inheritedNames(written, chosen)], options);
}

/** An example with one column, not of the key. */
function change(visible: VisibleRelation, options: RelationPathsOptions): Row {
  const written = visible.columns.filter(({ mayUpdate }) => mayUpdate);
  const others = written.filter(({ column }) => !visible.primaryKey.includes(column.name));
  const [notNull] = others.filter(({ column }) => !column.nullable);
  const chosen = [notNull ?? others[0] ?? written[0]].filter((one) => one !== undefined);
  return sampleRow([...chosen, ...inheritedNames(written, chosen)], options);
}

/**
 * Columns such as `constructor`: in examples without them, linters written in JavaScript find the method of that name. Ajv
 * ignores the property `__proto__` of a schema, so that linters refuse examples with it.
 */
function inheritedNames(
  columns: readonly VisibleColumn[],
  without: readonly VisibleColumn[],
): readonly VisibleColumn[] {
  return columns.filter(
    (one) => one.column.name in {} && one.column.name !== '__proto__' && !without.includes(one),
  );
}

function sampleRow(columns: readonly VisibleColumn[], { types }: RelationPathsOptions): Row {
  return Object.fromEntries(columns.map(({ column }) => [column.name, types.sampleOf(typeOf(column))]));
}

const NEEDS_FILTER = 'A request without any filter is refused with 400, and changes nothing.';

/** Null if every column has a filter of its own. */
function byAnd({ unlisted }: ColumnFilters): string | null {
  const [first] = unlisted;
  if (first === undefined) return null;
  const names = unlisted.map((name) => `\`${name}\``).join(', ');
  return `There is no parameter to filter by ${names}; use \`and\` instead: \`and=(${first}.not.is.null)\`.`;
}

function updateRows(visible: VisibleRelation, options: RelationPathsOptions): Operation {
  const { parameters, address, stems } = options;
  const filters = parameters.filters.update;
  return {
    ...head(
      'update',
      `Update rows of ${address}`,
      [`Updates the rows that match the filters. ${NEEDS_FILTER}`, byAnd(filters)],
      options,
    ),
    parameters: [
      ...filters.parameters,
      parameters.select,
      parameters.order,
      filters.and,
      ...restParameters('Or'),
      parameters.columns,
      ...restParameters('PreferUpdate'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: schemaRef(`${stems.schema}Update`), example: change(visible, options) },
      },
    },
    responses: {
      200: rows('The updated rows', stems, ...WRITTEN),
      204: none('With return=minimal or headers-only', ...WRITTEN),
      ...restErrors(...WITH_BODY),
    },
  };
}

function deleteRows(options: RelationPathsOptions): Operation {
  const { parameters, address, stems } = options;
  const filters = parameters.filters.delete;
  return {
    ...head(
      'delete',
      `Delete rows of ${address}`,
      [`Deletes the rows that match the filters. ${NEEDS_FILTER}`, byAnd(filters)],
      options,
    ),
    parameters: [
      ...filters.parameters,
      parameters.select,
      parameters.order,
      filters.and,
      ...restParameters('Or', 'PreferDelete'),
    ],
    responses: {
      200: rows('The deleted rows', stems, ...WRITTEN),
      204: none('With return=minimal or headers-only', ...WRITTEN),
      ...restErrors(...ALWAYS, 406, 409),
    },
  };
}

/** Generators make names of files and folders of a tag. */
export function tagOf(address: string, { schema }: RelationStems): string {
  return /^[\w. -]+$/.test(address) ? address : schema;
}

function head(
  verb: string,
  summary: string,
  descriptions: readonly (string | null)[],
  { stems, address }: RelationPathsOptions,
): Omit<Operation, 'responses'> {
  return {
    tags: [tagOf(address, stems)],
    summary,
    description: descriptions.filter((one) => one !== null).join('\n\n'),
    operationId: `${verb}${stems.operation}`,
    security: KEY_AND_BEARER,
  };
}

function rows(description: string, { schema }: RelationStems, ...headers: AnswerHeader[]): Response {
  const list: Schema = listOf(schemaRef(schema));
  return {
    description,
    headers: answerHeaders(...headers),
    content: { 'application/json': { schema: list } },
  };
}

function none(description: string, ...headers: AnswerHeader[]): Response {
  return { description, headers: answerHeaders(...headers) };
}
