/** Parameters and headers that the operations of table REST share. */
import {
  type Example,
  type Header,
  headerRef,
  type Parameter,
  parameterRef,
  type Reference,
  type Response,
  type Schema,
} from '../openapi/model';
import { componentName, ERROR_HEADERS } from './rest-errors';

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', format: 'int64', minimum: 0 };

const COUNT_VALUES = 'count=(exact|planned|estimated)';
const ALWAYS = [COUNT_VALUES, 'handling=(strict|lenient)', 'timezone=[^,]+', 'tx=(commit|rollback)'];
const RETURN = 'return=(representation|minimal|headers-only)';
const RESOLUTION = 'resolution=(merge-duplicates|ignore-duplicates)';
const MISSING = 'missing=(default|null)';
const READ = 'read=(primary|replica)';
const MAX_AFFECTED = 'max-affected=\\d+';

/** What a preference does, by its value. */
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

function prefer(patterns: readonly string[], shown: readonly string[]): Parameter {
  const one = `(${patterns.join('|')})`;
  const lines = shown.map((value) => `* \`${value}\`: ${PREFERENCES[value] ?? ''}`);
  const examples = shown.map((value): [string, Example] => [
    value.replace(/[^A-Za-z]+(\w)/g, (_all, letter: string) => letter.toUpperCase()).replace(/\W|\d/g, ''),
    { summary: PREFERENCES[value] ?? value, value },
  ]);
  return {
    name: 'Prefer',
    in: 'header',
    description: `Preferences, separated by commas:\n\n${lines.join('\n')}`,
    schema: { type: 'string', pattern: `^${one}(, *${one})*$` },
    examples: Object.fromEntries(examples),
  };
}

const COMMON = ['count=exact', 'handling=strict', 'timezone=Europe/Berlin', 'tx=rollback'];
const RETURNS = ['return=representation', 'return=minimal'];

const PARAMETERS = {
  Select: {
    name: 'select',
    in: 'query',
    description:
      'Columns (`alias:column`, `column::type`, `json->path`), and related rows as `name(columns)`; the default is `*`',
    schema: TEXT,
    example: '*',
  },
  Order: {
    name: 'order',
    in: 'query',
    description:
      'Columns, each with `.asc` (the default) or `.desc`, and `.nullsfirst` or `.nullslast`; `name(column)` orders by a related row',
    schema: TEXT,
  },
  Columns: {
    name: 'columns',
    in: 'query',
    description: 'The columns to write; other members of the body are ignored',
    schema: TEXT,
  },
  OnConflict: {
    name: 'on_conflict',
    in: 'query',
    description:
      'Columns of the unique constraint that identifies existing rows for `Prefer: resolution=...`; the default is the primary key',
    schema: TEXT,
  },
  Limit: {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of rows',
    schema: COUNT,
    example: 10,
  },
  Offset: {
    name: 'offset',
    in: 'query',
    description: 'Rows to skip',
    schema: COUNT,
    example: 0,
  },
  And: {
    name: 'and',
    in: 'query',
    description: 'Conditions that must all be true: `(a.gt.1,a.lt.5)`. They may contain `or(...)` and `not.`',
    schema: { type: 'string', pattern: '^\\(' },
  },
  Or: {
    name: 'or',
    in: 'query',
    description:
      'Conditions, at least one of which must be true: `(a.eq.1,b.is.null)`. They may contain `and(...)`',
    schema: { type: 'string', pattern: '^\\(' },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description: 'First and last row, an alternative to limit and offset: `0-9`, `10-`',
    schema: { type: 'string', pattern: '^\\d+-\\d*$' },
  },
  PreferRead: prefer(
    [...ALWAYS, READ],
    [
      'count=exact',
      'count=planned',
      'count=estimated',
      'handling=strict',
      'timezone=Europe/Berlin',
      'read=primary',
      'read=replica',
    ],
  ),
  ConsistencyToken: {
    name: 'X-Consistency-Token',
    in: 'header',
    description:
      'The token in the response to a write that must be visible. It admits a replica that has the write; without a token the primary is read, unless `Prefer` or the setting `read_from` says otherwise.',
    schema: TEXT,
  },
  PreferInsert: prefer(
    [...ALWAYS, RETURN, RESOLUTION, MISSING],
    [
      ...RETURNS,
      'return=headers-only',
      'resolution=merge-duplicates',
      'resolution=ignore-duplicates',
      'missing=default',
      'missing=null',
      ...COMMON,
    ],
  ),
  PreferPut: prefer([...ALWAYS, RETURN, MISSING], [...RETURNS, 'missing=default', ...COMMON]),
  PreferUpdate: prefer(
    [...ALWAYS, RETURN, MISSING, MAX_AFFECTED],
    [...RETURNS, 'missing=default', 'max-affected=10', ...COMMON],
  ),
  PreferDelete: prefer([...ALWAYS, RETURN, MAX_AFFECTED], [...RETURNS, 'max-affected=10', ...COMMON]),
  PreferCall: prefer([...ALWAYS, READ, MAX_AFFECTED], ['max-affected=10', ...COMMON, 'read=replica']),
} satisfies Record<string, Parameter>;

export type SharedParameter = keyof typeof PARAMETERS;

export const SHARED_PARAMETERS: Readonly<Record<SharedParameter, Parameter>> = PARAMETERS;

export function restParameters(...names: SharedParameter[]): Reference[] {
  return names.map(parameterRef);
}

const HEADERS: Readonly<Record<string, Header>> = {
  'Content-Range': {
    description: 'First and last row and, if a count was requested, the total number of rows',
    schema: TEXT,
    example: '0-9/42',
  },
  'Preference-Applied': {
    description: 'The preferences that were applied; absent if there are none',
    schema: TEXT,
    example: 'return=representation, count=exact',
  },
  'Content-Location': {
    description: 'The path with the query in its canonical form',
    schema: TEXT,
    example: '/todos?select=id%2Ctitle',
  },
  Location: {
    description: 'Filter of the inserted row by its primary key, with `return=headers-only` and one row',
    schema: TEXT,
    example: '/todos?id=eq.1',
  },
};

/** Of every answer without an error. */
const OF_ANSWERS: Readonly<Record<string, Header>> = {
  'Content-Profile': {
    description: 'The schema of the table or function, where the project exposes several',
    schema: TEXT,
    example: 'public',
  },
  'X-Consistency-Token': {
    description: 'Of a write, where the server has read replicas: the token for reads that must see it',
    schema: TEXT,
    example: '5f2c1a9b.0/16B3748',
  },
  Warning: {
    description:
      'The query names an embedded table that has an alias by its own name, which PostgREST deprecates',
    schema: TEXT,
  },
};

export const SHARED_HEADERS: Readonly<Record<string, Header>> = {
  ...ERROR_HEADERS,
  ...Object.fromEntries(
    Object.entries({ ...HEADERS, ...OF_ANSWERS }).map(([name, header]) => [componentName(name), header]),
  ),
};

export type AnswerHeader = 'Content-Range' | 'Preference-Applied' | 'Content-Location' | 'Location';

export function answerHeaders(...names: AnswerHeader[]): NonNullable<Response['headers']> {
  const all = [...names, ...Object.keys(OF_ANSWERS)];
  return Object.fromEntries(all.map((name) => [name, headerRef(componentName(name))]));
}

/** Both headers are needed (SPEC.md 5). */
export const KEY_AND_BEARER = [{ apikey: [], bearer: [] }];
