/** The output of the compile stage: statements, whose parameters each request fills with its own values. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonRow } from '../../row-stream/json-row';
import {
  type Parameter,
  type StatementBuilder,
  arrayLiteral,
  type BodyParameter,
  type RequestValues,
} from './statement-builder';

export interface CompiledStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** The name of the prepared statement, made of the text and the catalog's version. */
  readonly name: string;
  /** Prints its rows; null where PostgreSQL gives each row as one text. */
  readonly row: JsonRow | null;
}

export interface CompiledRequest {
  /** The statements whose rows together form the result; several only for inserts with very many sets of columns. */
  readonly main: readonly CompiledStatement[];
  /** A statement that returns one row with one number. */
  readonly exactCount: CompiledStatement | null;
  /** EXPLAIN (FORMAT JSON) of the read without its window. */
  readonly plannedCount: CompiledStatement | null;
}

export function finish(
  builder: StatementBuilder,
  query: string,
  input: CompileInput,
  row: JsonRow | null = null,
): CompiledStatement {
  const { text, parameters } = builder.finish(query);
  return { text, parameters, name: nameOf(text, input), row };
}

/** PostgreSQL keeps 63 bytes of a name, and RlsTransaction prefixes the role to it. */
export function nameOf(text: string, { catalogVersion }: CompileInput): string {
  return catalogVersion + digestOf(text);
}

/** Most texts were hashed before, and finding them is cheaper than hashing them again. */
const DIGESTS = new LRUCache<string, string>({ max: 2_000 });

function digestOf(text: string): string {
  const known = DIGESTS.get(text);
  if (known !== undefined) return known;
  const digest = createHash('sha1').update(text).digest('base64url').slice(0, 20);
  DIGESTS.set(text, digest);
  return digest;
}

/** The input of the compile stage, in addition to the plan. */
export interface CompileInput {
  readonly catalogVersion: string;
  /** Whether the body of a write is a list of rows. */
  readonly bodyIsList: boolean;
  /** False while the schema is changing: PostgreSQL itself then converts the rows, with the columns that exist at that time. */
  readonly printsRows: boolean;
}

/** Binds a request's values to compiled statements, for the database. */
type BoundValue = string | number | Buffer | null;

export interface BoundStatement {
  readonly text: string;
  readonly name: string;
  readonly values: readonly BoundValue[];
  readonly row: JsonRow | null;
}

/** See CompiledRequest. */
export interface BoundRequest {
  readonly main: readonly BoundStatement[];
  readonly exactCount: BoundStatement | null;
  readonly plannedCount: BoundStatement | null;
}

export function bindRequest(
  { main, exactCount, plannedCount }: CompiledRequest,
  values: RequestValues,
): BoundRequest {
  return {
    main: main.map((statement) => bind(statement, values)),
    exactCount: exactCount && bind(exactCount, values),
    plannedCount: plannedCount && bind(plannedCount, values),
  };
}

function bind({ text, name, parameters, row }: CompiledStatement, values: RequestValues): BoundStatement {
  return { text, name, values: parameters.map((parameter) => valueOf(parameter, values)), row };
}

/** The value as it is sent to PostgreSQL. */
function valueOf(parameter: Parameter, values: RequestValues): BoundValue {
  if (typeof parameter !== 'object') return parameter;
  const { kind, as } = parameter;
  switch (kind) {
    case 'filter': {
      const value = values.filters[parameter.slot];
      if (as === 'list' && typeof value === 'object') return arrayLiteral(value);
      if (as === 'list' || typeof value !== 'string')
        throw new Error('a plan was used for a request of another shape');
      return as === 'pattern' ? value.replaceAll('*', '%') : value;
    }
    case 'argument': {
      const texts = values.arguments.get(parameter.name) ?? [];
      return as === 'list' ? arrayLiteral(texts) : (texts.at(-1) ?? null);
    }
    case 'body':
      return bodyValue(parameter, values);
  }
}

/** JSON may remain bytes: json in binary format is its text. */
function bodyValue({ as }: BodyParameter, { body }: RequestValues): string | Buffer | null {
  switch (as) {
    case 'json':
      return body === null || body.length === 0 ? '{}' : body;
    case 'text':
      return body?.toString() ?? null;
    case 'bytes':
      // PostgreSQL's text of bytes (manual, 8.4.1).
      return `\\x${(typeof body === 'string' ? Buffer.from(body) : body)?.toString('hex') ?? ''}`;
  }
}
