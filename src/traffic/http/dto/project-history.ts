/** The history of a project: its query string and its entries. */
import { IsISO8601, Matches, NotContains } from 'class-validator';
import * as f from '../../../http/model/fields';
import { OUTCOMES, SOURCES } from '../../../install/history/history-entry';
import type { StoredEntry } from '../../../install/history/history.repository';

const MOMENT = /^[12]\d{3}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?Z$/;
const ID = /^\d{1,18}-\d{1,18}$/;

const moment = (name: string, description: string): f.Field<string> =>
  f.field<string>({ format: 'date-time', description }, [
    Matches(MOMENT, { message: `${name} must be a time such as 2026-01-01T08:00:00Z` }),
    IsISO8601({ strict: true }),
  ]);

export class ListHistoryQuery extends f.model({
  source: f.optional.choice(SOURCES, 'Only entries of this part'),
  outcome: f.optional.choice(
    OUTCOMES,
    '`refused`: status 400 to 499. `failed`: status from 500, and mails and deliveries that failed. `database`: errors of PostgreSQL.',
  ),
  method: f.optional.text('Only requests of this method', { max: 10, example: 'GET' }),
  search: f.optional.text('Part of method, path, status, role, error or id of the request, in any case', {
    max: 200,
    example: 'notes',
    checks: [NotContains('\0')],
  }),
  slower: f.optional.digits(0, 86_400_000, 'Milliseconds that it took at least'),
  since: f.optional(moment('since', 'Only entries of this time or later')),
  until: f.optional(moment('until', 'Only entries before this time')),
  limit: f.optional.digits(1, 500, 'Entries per page; default: 100'),
  before: f.optional(
    f.field<string>({ pattern: ID.source, description: 'The X-Next-Cursor header of the previous page' }, [
      Matches(ID, { message: 'before must be the id of an entry' }),
    ]),
  ),
}) {}

const MS = { minimum: 0, example: 12.5 };

export class ProjectHistoryEntry
  extends f.model({
    id: f.text('Its place, for `before`', { example: '1767254400000000-1042' }),
    at: f.time('When it began'),
    source: f.choice(SOURCES, 'The part that it concerns'),
    method: f.nullable.text('Null for a mail and a delivery', { example: 'GET' }),
    path: f.text('The masked path; the kind of a mail; the id of a webhook', {
      example: '/rest/v1/notes?select=***',
    }),
    status: f.nullable.whole('Of the answer, or that of the receiver; 499: the client disconnected', {
      minimum: 0,
      example: 200,
    }),
    role: f.nullable.text('The role in the database', { example: 'authenticated' }),
    ms: f.nullable.number('Milliseconds in all', { ...MS }),
    ms_database: f.nullable.number('Milliseconds with, or in wait for, the database', { ...MS }),
    bytes: f.nullable.size('Bytes of the response', { example: 512 }),
    error: f.nullable.text('Code of the error; the reason of a mail or delivery that failed', {
      example: '42501',
    }),
    request_id: f.nullable.text('`X-Request-Id`; the id of a mail or delivery', { example: null }),
    statement: f.nullable.text('The main statement of table REST, with parameters in place of values', {
      example: 'select "id" from "public"."notes" limit $1',
    }),
    left_out: f.size('Entries that were left out before this one', { example: 0 }),
  })
  implements StoredEntry {}
