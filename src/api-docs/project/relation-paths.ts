/** The operations on one relation: select, insert, update, delete, and PUT by primary key. */
import { encodeName, queryName } from './names';
import {
  listOf,
  type Operation,
  type Parameter,
  parameterRef,
  type PathItem,
  type Response,
  schemaRef,
} from './openapi';
import {
  KEY_AND_BEARER,
  RANGE_HEADERS,
  restErrors,
  type RestErrorStatus,
  restParameters,
} from './rest-components';
import type { VisibleRelation } from './visible-relation';

export interface RelationNames {
  /** Prefix of component names and operation ids. */
  readonly stem: string;
  /** The name in a URL. */
  readonly address: string;
}

const ALWAYS: readonly RestErrorStatus[] = [400, 401, 403, 404, 500, 503];

/** A filter for each column that the role may read, by component name. */
export function filterParameters(visible: VisibleRelation, { stem }: RelationNames): Map<string, Parameter> {
  return new Map(
    readable(visible).map((name) => [
      filterName(stem, name),
      {
        name: queryName(name),
        in: 'query',
        description: 'operator.value: eq.1, like.A*, in.(1,2), not.is.null',
        schema: { type: 'string' },
      },
    ]),
  );
}

export function relationPaths(visible: VisibleRelation, names: RelationNames): PathItem {
  const { maySelect, mayInsert, mayUpdate, mayDelete, primaryKey, columns } = visible;
  const insertable = new Set(columns.filter((one) => one.mayInsert).map(({ column }) => column.name));
  // The body of a PUT must contain the key, but an identity ALWAYS accepts no value.
  const mayGiveKey = primaryKey.length > 0 && primaryKey.every((name) => insertable.has(name));
  const mayPut = maySelect && mayInsert && mayUpdate && mayGiveKey;
  return {
    ...(maySelect ? { get: selectRows(visible, names) } : {}),
    ...(mayInsert ? { post: insertRows(visible, names) } : {}),
    ...(mayPut ? { put: putRow(visible, names) } : {}),
    ...(mayUpdate ? { patch: updateRows(visible, names) } : {}),
    ...(mayDelete ? { delete: deleteRows(visible, names) } : {}),
  };
}

function selectRows(visible: VisibleRelation, { stem, address }: RelationNames): Operation {
  return {
    ...head('select', `Select rows of ${address}`, { stem, address }),
    ...(visible.comment === null ? {} : { description: visible.comment }),
    parameters: [
      ...filters(visible, stem),
      ...restParameters('select', 'order', 'limit', 'offset', 'and', 'or', 'Range', 'preferRead'),
    ],
    responses: {
      200: rows('The rows', stem),
      206: rows('A part of the rows, if a count was requested', stem),
      ...restErrors(...ALWAYS, 406, 416),
    },
  };
}

function insertRows({ maySelect }: VisibleRelation, { stem, address }: RelationNames): Operation {
  const insert = schemaRef(`${stem}.Insert`);
  return {
    ...head('insert', `Insert one or more rows into ${address}, all or none`, { stem, address }),
    parameters: restParameters('select', 'columns', 'on_conflict', 'preferWrite'),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { oneOf: [insert, listOf(insert)] } } },
    },
    responses: {
      ...(maySelect ? { 200: rows('An upsert that only updated rows', stem) } : {}),
      201: maySelect
        ? rows('The new rows; nothing with return=minimal', stem)
        : { description: 'Inserted; the rows are not returned because the role may not read them' },
      ...restErrors(...ALWAYS, 409, 413, 415),
    },
  };
}

function putRow({ primaryKey }: VisibleRelation, { stem, address }: RelationNames): Operation {
  return {
    ...head('upsert', `Insert or replace the row of ${address} that the primary key names`, {
      stem,
      address,
    }),
    parameters: [
      ...primaryKey.map((name): Parameter => ({
        name: queryName(name),
        in: 'query',
        required: true,
        description: 'eq.value, as in the body',
        schema: { type: 'string', pattern: '^eq\\.' },
      })),
      ...restParameters('select', 'columns', 'preferWrite'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef(`${stem}.Insert`) } },
    },
    responses: {
      200: rows('The row was there and is replaced', stem),
      201: rows('The row is new', stem),
      204: { description: 'With return=minimal' },
      ...restErrors(...ALWAYS, 405, 409, 413, 415),
    },
  };
}

function updateRows(visible: VisibleRelation, { stem, address }: RelationNames): Operation {
  return {
    ...head('update', `Update the rows of ${address} that the filters choose; at least one is needed`, {
      stem,
      address,
    }),
    parameters: [
      ...filters(visible, stem),
      ...restParameters('select', 'order', 'limit', 'offset', 'and', 'or', 'columns', 'preferWrite'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef(`${stem}.Update`) } },
    },
    responses: changed('The changed rows', stem, 409, 413, 415),
  };
}

function deleteRows(visible: VisibleRelation, { stem, address }: RelationNames): Operation {
  return {
    ...head('delete', `Delete the rows of ${address} that the filters choose; at least one is needed`, {
      stem,
      address,
    }),
    parameters: [
      ...filters(visible, stem),
      ...restParameters('select', 'order', 'limit', 'offset', 'and', 'or', 'preferWrite'),
    ],
    responses: changed('The deleted rows', stem, 409),
  };
}

function head(verb: string, summary: string, { stem, address }: RelationNames): Omit<Operation, 'responses'> {
  return { tags: [address], summary, operationId: `${verb}_${stem}`, security: KEY_AND_BEARER };
}

function changed(description: string, stem: string, ...errors: RestErrorStatus[]): Operation['responses'] {
  return {
    200: rows(description, stem),
    204: { description: 'With return=minimal or headers-only' },
    ...restErrors(...ALWAYS, 406, ...errors),
  };
}

function rows(description: string, stem: string): Response {
  return {
    description,
    headers: RANGE_HEADERS,
    content: { 'application/json': { schema: listOf(schemaRef(`${stem}.Row`)) } },
  };
}

const readable = ({ columns }: VisibleRelation): string[] =>
  columns.filter(({ maySelect }) => maySelect).map(({ column }) => column.name);

const filterName = (stem: string, column: string): string => `filter.${stem}.${encodeName(column)}`;

const filters = (visible: VisibleRelation, stem: string) =>
  readable(visible).map((name) => parameterRef(filterName(stem, name)));
