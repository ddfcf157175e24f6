/** The operations on a table or view: on one of a project, and on any in the platform's document. */
import {
  listOf,
  type Operation,
  type Parameter,
  type PathItem,
  type Reference,
  type Response,
  type Schema,
} from '../openapi/model';
import { restErrors, type RestErrorStatus } from './rest-errors';
import { type AnswerHeader, answerHeaders, KEY_AND_BEARER, restParameters } from './rest-parameters';

export type TableVerb = 'select' | 'insert' | 'upsert' | 'update' | 'delete';
type Filters = readonly (Parameter | Reference)[];

export interface DescribedTable {
  /** The relation in texts: `orders`, `a table or view`. */
  readonly title: string;
  readonly tag: string;
  /** Only the operations with an id are described. */
  readonly operationIds: Readonly<Partial<Record<TableVerb, string>>>;
  readonly comment?: string | null;
  /** Texts after the description of an operation. */
  readonly notes?: Readonly<Partial<Record<TableVerb, string | null>>>;
  readonly schemas: Readonly<Record<'row' | 'insert' | 'update', Schema>>;
  readonly examples: Readonly<Record<'insert' | 'upsert' | 'update', unknown>> & { readonly rows?: unknown };
  /** False if the role may not read the rows that it inserts. */
  readonly isReadable: boolean;
  /** The filters, and the parameters of the path. */
  readonly filters: Readonly<Record<TableVerb, Filters>>;
  readonly parameters: Readonly<Record<'select' | 'order' | 'columns' | 'onConflict', Reference>>;
  readonly and: Readonly<Record<'update' | 'delete', Parameter | Reference>>;
  readonly errors: readonly RestErrorStatus[];
}

export const ALWAYS: readonly RestErrorStatus[] = [300, 400, 401, 403, 404, 429, 500, 503];
export const WITH_BODY: readonly RestErrorStatus[] = [...ALWAYS, 406, 408, 409, 413, 415];
const WRITTEN: readonly AnswerHeader[] = ['Content-Range', 'Preference-Applied'];
const READ: readonly AnswerHeader[] = ['Content-Range', 'Content-Location', 'Preference-Applied'];
const APPLIED: readonly AnswerHeader[] = ['Preference-Applied'];

const SELECTS = 'Returns the rows that match the filters and that row-level security lets the caller see.';
const INSERTS =
  'Inserts one row, or a list of rows, all or none. With `Prefer: resolution=merge-duplicates`, existing rows are updated.';
const PUTS = 'Inserts the row with the primary key in the filters, or replaces it if it exists.';
const NEEDS_FILTER = 'A request without any filter is refused with 400, and changes nothing.';

export function tableOperations(table: DescribedTable): PathItem {
  const { operationIds: ids } = table;
  return {
    ...(ids.select && { get: selectRows(table) }),
    ...(ids.insert && { post: insertRows(table) }),
    ...(ids.upsert && { put: putRow(table) }),
    ...(ids.update && { patch: updateRows(table) }),
    ...(ids.delete && { delete: deleteRows(table) }),
  };
}

function selectRows(table: DescribedTable): Operation {
  const { parameters, filters, title, errors } = table;
  return {
    ...head(table, 'select', `Select rows of ${title}`, SELECTS),
    parameters: [
      ...filters.select,
      parameters.select,
      parameters.order,
      ...restParameters('Limit', 'Offset', 'And', 'Or', 'Range', 'PreferRead', 'ConsistencyToken'),
    ],
    responses: {
      200: rows(table, 'The rows', READ),
      206: rows(table, 'A part of the rows, if a count was requested', READ),
      ...restErrors(...ALWAYS, ...errors, 406, 416),
    },
  };
}

function insertRows(table: DescribedTable): Operation {
  const { parameters, filters, schemas, examples, title, isReadable, errors } = table;
  const { insert } = schemas;
  const unread = 'Inserted; the rows are not returned because the role may not read them';
  const read = 'The new rows; no body with return=minimal or headers-only';
  return {
    ...head(table, 'insert', `Insert rows into ${title}`, INSERTS),
    parameters: [
      ...filters.insert,
      ...(isReadable ? [parameters.select, parameters.order] : []),
      parameters.columns,
      parameters.onConflict,
      ...restParameters('PreferInsert'),
    ],
    requestBody: jsonBody({ oneOf: [insert, listOf(insert)] }, examples.insert),
    responses: {
      ...(isReadable && { 200: rows(table, 'The rows of an upsert that only updated rows', WRITTEN) }),
      201: isReadable ? rows(table, read, [...WRITTEN, 'Location']) : none(WRITTEN, unread),
      ...restErrors(...WITH_BODY, ...errors),
    },
  };
}

function putRow(table: DescribedTable): Operation {
  const { parameters, filters, schemas, examples, title } = table;
  return {
    ...head(table, 'upsert', `Insert or replace a row of ${title}`, PUTS),
    parameters: [...filters.upsert, parameters.select, parameters.columns, ...restParameters('PreferPut')],
    requestBody: jsonBody(schemas.insert, examples.upsert),
    responses: {
      200: rows(table, 'The replaced row', APPLIED),
      201: rows(table, 'The new row', APPLIED),
      204: none(APPLIED),
      ...restErrors(...WITH_BODY, 405),
    },
  };
}

function updateRows(table: DescribedTable): Operation {
  const { parameters, filters, and, schemas, examples, title, errors } = table;
  return {
    ...head(
      table,
      'update',
      `Update rows of ${title}`,
      `Updates the rows that match the filters. ${NEEDS_FILTER}`,
    ),
    parameters: [
      ...filters.update,
      parameters.select,
      parameters.order,
      and.update,
      ...restParameters('Or'),
      parameters.columns,
      ...restParameters('PreferUpdate'),
    ],
    requestBody: jsonBody(schemas.update, examples.update),
    responses: {
      200: rows(table, 'The updated rows', WRITTEN),
      204: none(WRITTEN),
      ...restErrors(...WITH_BODY, ...errors),
    },
  };
}

function deleteRows(table: DescribedTable): Operation {
  const { parameters, filters, and, title, errors } = table;
  return {
    ...head(
      table,
      'delete',
      `Delete rows of ${title}`,
      `Deletes the rows that match the filters. ${NEEDS_FILTER}`,
    ),
    parameters: [
      ...filters.delete,
      parameters.select,
      parameters.order,
      and.delete,
      ...restParameters('Or', 'PreferDelete'),
    ],
    responses: {
      200: rows(table, 'The deleted rows', WRITTEN),
      204: none(WRITTEN),
      ...restErrors(...ALWAYS, ...errors, 406, 409),
    },
  };
}

function head(
  { tag, operationIds, comment = null, notes }: DescribedTable,
  verb: TableVerb,
  summary: string,
  text: string,
): Omit<Operation, 'responses'> {
  const paragraphs = [verb === 'select' ? comment : null, text, notes?.[verb] ?? null];
  return {
    tags: [tag],
    summary,
    description: paragraphs.filter((one) => one !== null).join('\n\n'),
    operationId: operationIds[verb],
    security: KEY_AND_BEARER,
  };
}

function rows(
  { schemas, examples }: DescribedTable,
  description: string,
  headers: readonly AnswerHeader[],
): Response {
  const example = examples.rows === undefined ? {} : { example: examples.rows };
  return {
    description,
    headers: answerHeaders(...headers),
    content: { 'application/json': { schema: listOf(schemas.row), ...example } },
  };
}

function none(
  headers: readonly AnswerHeader[],
  description = 'With return=minimal or headers-only',
): Response {
  return { description, headers: answerHeaders(...headers) };
}

const jsonBody = (schema: Schema, example: unknown): Operation['requestBody'] => ({
  required: true,
  content: { 'application/json': { schema, example } },
});
