/** The operations on a table, view or function: on one of a project, and on any in the platform's document. */
import {
  type Content,
  type MediaType,
  type Method,
  type Operation,
  type Parameter,
  parameterRef,
  type PathItem,
  type Reference,
  type RequestBody,
} from '../openapi/model';
import { listOf } from '../../visible-schema/json-schema';
import { mapValues } from '../openapi/map-schemas';
import { restErrors, type RestErrorStatus } from './rest-errors';
import { type AnswerHeader, answerHeaders, KEY_AND_BEARER, type SharedParameter } from './rest-parameters';

export type TableVerb = 'select' | 'insert' | 'upsert' | 'update' | 'delete';

/** Parameters in place of the shared ones, with examples of the relation. */
export type OwnParameters = Readonly<Partial<Record<SharedParameter, Parameter | Reference>>>;

type Answers = Readonly<Record<number, readonly [description: string, headers: readonly AnswerHeader[]]>>;

interface Verb {
  readonly method: Method;
  /** Before the title of the relation. */
  readonly summary: string;
  readonly text: string;
  /** After the filters. */
  readonly parameters: readonly SharedParameter[];
  readonly answers: Answers;
  readonly errors: readonly RestErrorStatus[];
}

const ALWAYS: readonly RestErrorStatus[] = [300, 400, 401, 403, 404, 406, 429, 500, 503];
const WITH_BODY: readonly RestErrorStatus[] = [...ALWAYS, 408, 409, 413, 415];
const WRITTEN: readonly AnswerHeader[] = ['Content-Range', 'Preference-Applied'];
const READ: readonly AnswerHeader[] = ['Content-Range', 'Content-Location', 'Preference-Applied'];
const APPLIED: readonly AnswerHeader[] = ['Preference-Applied'];

const PART = 'A part of the rows, if a count was requested';
const NO_ROWS = 'With return=minimal or headers-only';
const NEEDS_FILTER = 'A request without any filter is refused with 400, and changes nothing.';

const VERBS: Readonly<Record<TableVerb, Verb>> = {
  select: {
    method: 'get',
    summary: 'Select rows of',
    text: 'Returns the rows that match the filters and that row-level security lets the caller see.',
    parameters: [
      'Select',
      'Order',
      'Limit',
      'Offset',
      'And',
      'Or',
      'Range',
      'PreferRead',
      'ConsistencyToken',
    ],
    answers: { 200: ['The rows', READ], 206: [PART, READ] },
    errors: [...ALWAYS, 416],
  },
  insert: {
    method: 'post',
    summary: 'Insert rows into',
    text: 'Inserts one row, or a list of rows, all or none. With `Prefer: resolution=merge-duplicates`, existing rows are updated.',
    parameters: ['Select', 'Order', 'Columns', 'OnConflict', 'PreferInsert'],
    answers: {
      200: ['The rows of an upsert that only updated rows', WRITTEN],
      201: ['The new rows; no body with return=minimal or headers-only', [...WRITTEN, 'Location']],
    },
    errors: WITH_BODY,
  },
  upsert: {
    method: 'put',
    summary: 'Insert or replace a row of',
    text: 'Inserts the row with the primary key in the filters, or replaces it if it exists.',
    parameters: ['Select', 'Columns', 'PreferPut'],
    answers: {
      200: ['The replaced row', APPLIED],
      201: ['The new row', APPLIED],
      204: [NO_ROWS, APPLIED],
    },
    errors: [...WITH_BODY, 405],
  },
  update: {
    method: 'patch',
    summary: 'Update rows of',
    text: `Updates the rows that match the filters. ${NEEDS_FILTER}`,
    parameters: ['Select', 'Order', 'And', 'Or', 'Columns', 'PreferUpdate'],
    answers: { 200: ['The updated rows', WRITTEN], 204: [NO_ROWS, WRITTEN] },
    errors: WITH_BODY,
  },
  delete: {
    method: 'delete',
    summary: 'Delete rows of',
    text: `Deletes the rows that match the filters. ${NEEDS_FILTER}`,
    parameters: ['Select', 'Order', 'And', 'Or', 'PreferDelete'],
    answers: { 200: ['The deleted rows', WRITTEN], 204: [NO_ROWS, WRITTEN] },
    errors: [...ALWAYS, 409],
  },
};

/** The answers of `insert` if the role may not read the rows that it inserts. */
const UNREADABLE: Answers = {
  201: ['Inserted; the rows are not returned because the role may not read them', WRITTEN],
};

/** An operation on one relation. */
export interface DescribedVerb {
  readonly id: string;
  /** The filters, and the parameters of the path. */
  readonly filters: readonly (Parameter | Reference)[];
  readonly parameters?: OwnParameters;
  /** Text after the description. */
  readonly note?: string | null;
  /** One row. */
  readonly body?: MediaType;
}

export interface DescribedTable {
  /** The relation in texts: `orders`, `a table or view`. */
  readonly title: string;
  readonly tag: string;
  readonly comment?: string | null;
  /** The operations that are possible. */
  readonly verbs: Readonly<Partial<Record<TableVerb, DescribedVerb | false>>>;
  /** A list of rows; null if the role may not read them. */
  readonly rows: MediaType | null;
  readonly parameters?: OwnParameters;
  readonly errors?: readonly RestErrorStatus[];
}

export function tableOperations(table: DescribedTable): PathItem {
  const verbs = (Object.keys(VERBS) as TableVerb[]).flatMap((name) => {
    const described = table.verbs[name];
    return described ? [[VERBS[name].method, operationOn(table, name, described)] as const] : [];
  });
  return Object.fromEntries(verbs);
}

function operationOn(
  { title, tag, comment = null, rows, parameters: ofTable, errors = [] }: DescribedTable,
  name: TableVerb,
  { id, filters, parameters: ofVerb, note = null, body }: DescribedVerb,
): Operation {
  const { summary, text, answers, ...verb } = VERBS[name];
  const own: OwnParameters = { ...ofTable, ...ofVerb };
  const shown = verb.parameters.filter((one) => rows !== null || (one !== 'Select' && one !== 'Order'));
  const paragraphs = [name === 'select' ? comment : null, text, note].filter((one) => one !== null);
  return {
    ...head(id, tag, `${summary} ${title}`, paragraphs.join('\n\n')),
    parameters: [...filters, ...shown.map((one) => own[one] ?? parameterRef(one))],
    ...(body && {
      requestBody: { required: true, content: json(name === 'insert' ? oneOrMore(body) : body) },
    }),
    responses: {
      ...mapValues(rows ? answers : UNREADABLE, ([description, headers], status) => ({
        description,
        headers: answerHeaders(...headers),
        ...(rows && status !== '204' && { content: json(rows) }),
      })),
      ...restErrors(...verb.errors, ...errors),
    },
  };
}

const oneOrMore = ({ schema = {}, ...shown }: MediaType): MediaType => ({
  schema: { oneOf: [schema, listOf(schema)] },
  ...shown,
});

/** An operation on one function, or on overloads of it. */
export interface DescribedCall {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly text: string;
  readonly parameters: readonly (Parameter | Reference)[];
  /** Absent for a call by GET. */
  readonly requestBody?: RequestBody;
  /** The result; null if there is none. */
  readonly value: Content | null;
  /** A part of the result, if it may be a set. */
  readonly part: Content | null;
  readonly mayBeVoid: boolean;
}

export function callOperation(call: DescribedCall, isByBody: boolean): Operation {
  const { id, tag, summary, text, parameters, requestBody, value, part, mayBeVoid } = call;
  const headers = answerHeaders(...WRITTEN);
  return {
    ...head(id, tag, summary, text),
    parameters,
    ...(requestBody && { requestBody }),
    responses: {
      ...(value && { 200: { description: 'The result of the function', headers, content: value } }),
      ...(mayBeVoid && { 204: { description: 'The function returned nothing', headers } }),
      ...(part && { 206: { description: PART, headers, content: part } }),
      ...restErrors(...(isByBody ? WITH_BODY : [...ALWAYS, 409 as const]), 405, 416),
    },
  };
}

const head = (
  operationId: string,
  tag: string,
  summary: string,
  description: string,
): Omit<Operation, 'responses'> => ({
  tags: [tag],
  summary,
  description,
  operationId,
  security: KEY_AND_BEARER,
});

export const json = (media: MediaType): Content => ({ 'application/json': media });
