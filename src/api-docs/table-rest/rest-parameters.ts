/** Parameters and headers that the operations of table REST share. */
import { type Example, type Header, type Parameter, type Response, textHeader } from '../openapi/model';
import type { Schema } from '../../visible-schema/json-schema';
import { ERROR_HEADERS, headerComponents, headerRefs } from './rest-errors';

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', format: 'int64', minimum: 0 };

/** The effect of each value of a preference. */
const PREFERENCES: Readonly<Record<string, string>> = {
  'return=representation': 'The rows are returned (the default)',
  'return=minimal': 'No rows are returned',
  'return=headers-only': 'No rows, and `Location` for one inserted row',
  'count=exact': '`Content-Range` has the total number of rows',
  'count=planned': "`Content-Range` has the planner's estimate of it",
  'count=estimated': 'Exact up to `max_rows`, an estimate beyond',
  'resolution=merge-duplicates': 'Upsert: existing rows are updated',
  'resolution=ignore-duplicates': 'Existing rows are left unchanged',
  'missing=default': 'Omitted columns get their default',
  'missing=null': 'Omitted columns become null',
  'tx=rollback': 'Dry run: nothing is saved',
  'handling=strict': 'Unknown preferences are refused with 400',
  'max-affected=10': 'With handling=strict: 400 for more rows',
  'read=primary': 'The primary is read, whatever the token and the setting `read_from` say',
  'read=replica': 'A replica may be read that is at most a second behind',
  'timezone=Europe/Berlin': 'The time zone of timestamps in the response',
};

/** Patterns of preferences that only some requests take. */
const VALUES = {
  return: 'return=(representation|minimal|headers-only)',
  resolution: 'resolution=(merge-duplicates|ignore-duplicates)',
  missing: 'missing=(default|null)',
  read: 'read=(primary|replica)',
  'max-affected': 'max-affected=\\d+',
};
const ALWAYS =
  'count=(exact|planned|estimated)|handling=(strict|lenient)|timezone=[^,]+|tx=(commit|rollback)';
const COMMON = 'count=exact handling=strict timezone=Europe/Berlin tx=rollback';

/** @param shown examples, separated by spaces, of all preferences that the request takes */
function prefer(shown: string): Parameter {
  const all = shown.split(' ');
  const taken = Object.entries(VALUES).filter(([name]) => all.some((one) => one.startsWith(`${name}=`)));
  const one = `(${[ALWAYS, ...taken.map(([, pattern]) => pattern)].join('|')})`;
  const examples = all.map((value): [string, Example] => [
    value.replace(/[^A-Za-z]+(\w)/g, (_all, letter: string) => letter.toUpperCase()).replace(/\W|\d/g, ''),
    { summary: PREFERENCES[value] ?? value, value },
  ]);
  return {
    name: 'Prefer',
    in: 'header',
    description: `Preferences, separated by commas:\n\n${all.map((value) => `* \`${value}\`: ${PREFERENCES[value] ?? ''}`).join('\n')}`,
    schema: { type: 'string', pattern: `^${one}(, *${one})*$` },
    examples: Object.fromEntries(examples),
  };
}

function query(name: string, description: string, more: Partial<Parameter> = {}): Parameter {
  return { name, in: 'query', description, schema: TEXT, ...more };
}

const CONDITIONS = { schema: { type: 'string', pattern: '^\\(' } } as const;

const PARAMETERS = {
  Select: query(
    'select',
    'Columns (`alias:column`, `column::type`, `json->path`), and related rows as `name(columns)`; the default is `*`',
    { example: '*' },
  ),
  Order: query(
    'order',
    'Columns, each with `.asc` (the default) or `.desc`, and `.nullsfirst` or `.nullslast`; `name(column)` orders by a related row',
  ),
  Columns: query('columns', 'The columns to write; other members of the body are ignored'),
  OnConflict: query(
    'on_conflict',
    'Columns of the unique constraint that identifies existing rows for `Prefer: resolution=...`; the default is the primary key',
  ),
  Limit: query('limit', 'Maximum number of rows', { schema: COUNT, example: 10 }),
  Offset: query('offset', 'Rows to skip', { schema: COUNT, example: 0 }),
  And: query(
    'and',
    'Conditions that must all be true: `(a.gt.1,a.lt.5)`. They may contain `or(...)` and `not.`',
    CONDITIONS,
  ),
  Or: query(
    'or',
    'Conditions, at least one of which must be true: `(a.eq.1,b.is.null)`. They may contain `and(...)`',
    CONDITIONS,
  ),
  Range: {
    name: 'Range',
    in: 'header',
    description: 'First and last row, an alternative to limit and offset: `0-9`, `10-`',
    schema: { type: 'string', pattern: '^\\d+-\\d*$' },
  },
  ConsistencyToken: {
    name: 'X-Consistency-Token',
    in: 'header',
    description:
      'The token in the response to a write that must be visible. It admits a replica that has the write; without a token the primary is read, unless `Prefer` or the setting `read_from` says otherwise.',
    schema: TEXT,
  },
  PreferRead: prefer(
    'count=exact count=planned count=estimated handling=strict timezone=Europe/Berlin read=primary read=replica',
  ),
  PreferInsert: prefer(
    `return=representation return=minimal return=headers-only resolution=merge-duplicates resolution=ignore-duplicates missing=default missing=null ${COMMON}`,
  ),
  PreferPut: prefer(`return=representation return=minimal missing=default ${COMMON}`),
  PreferUpdate: prefer(`return=representation return=minimal missing=default max-affected=10 ${COMMON}`),
  PreferDelete: prefer(`return=representation return=minimal max-affected=10 ${COMMON}`),
  PreferCall: prefer(`max-affected=10 ${COMMON} read=replica`),
} satisfies Record<string, Parameter>;

export type SharedParameter = keyof typeof PARAMETERS;

export const SHARED_PARAMETERS: Readonly<Record<SharedParameter, Parameter>> = PARAMETERS;

const HEADERS: Readonly<Record<string, Header>> = {
  'Content-Range': textHeader(
    'First and last row and, if a count was requested, the total number of rows',
    '0-9/42',
  ),
  'Preference-Applied': textHeader(
    'The preferences that were applied; absent if there are none',
    'return=representation, count=exact',
  ),
  'Content-Location': textHeader('The path with the query in its canonical form', '/todos?select=id%2Ctitle'),
  Location: textHeader(
    'Filter of the inserted row by its primary key, with `return=headers-only` and one row',
    '/todos?id=eq.1',
  ),
};

/** Headers of every success. */
const OF_ANSWERS: Readonly<Record<string, Header>> = {
  'Content-Profile': textHeader(
    'The schema of the table or function, where the project exposes several',
    'public',
  ),
  'X-Consistency-Token': textHeader(
    'Of a write, where the server has read replicas: the token for reads that must see it',
    '5f2c1a9b.0/16B3748',
  ),
  Warning: textHeader(
    'The query names an embedded table that has an alias by its own name, which PostgREST deprecates',
  ),
};

export const SHARED_HEADERS: Readonly<Record<string, Header>> = {
  ...ERROR_HEADERS,
  ...headerComponents({ ...HEADERS, ...OF_ANSWERS }),
};

export type AnswerHeader = 'Content-Range' | 'Preference-Applied' | 'Content-Location' | 'Location';

export function answerHeaders(...names: AnswerHeader[]): NonNullable<Response['headers']> {
  return headerRefs([...names, ...Object.keys(OF_ANSWERS)]);
}

/** Both headers are needed. */
export const KEY_AND_BEARER = [{ apikey: [], bearer: [] }];
