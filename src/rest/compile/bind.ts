/** Binds a request's values to compiled statements, for the database. */
import type { JsonRow } from '../../row-stream/json-row';
import type { CompiledRequest, CompiledStatement } from './compiled-statement';
import {
  type ArgumentParameter,
  arrayLiteral,
  type BodyParameter,
  type FilterParameter,
  type Parameter,
  type RequestValues,
} from './parameter';

type BoundValue = string | number | Buffer | null;

export interface BoundStatement {
  readonly text: string;
  readonly name: string;
  readonly values: readonly BoundValue[];
  readonly row: JsonRow | null;
}

/** As CompiledRequest. */
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
  switch (parameter.kind) {
    case 'filter':
      return filterValue(parameter, values);
    case 'argument':
      return argumentValue(parameter, values);
    case 'body':
      return bodyValue(parameter, values);
  }
}

function filterValue({ slot, as }: FilterParameter, { filters }: RequestValues): string {
  const value = filters[slot];
  if (as === 'list' && typeof value === 'object') return arrayLiteral(value);
  if (as === 'list' || typeof value !== 'string')
    throw new Error('a plan was used for a request of another shape');
  return as === 'pattern' ? value.replaceAll('*', '%') : value;
}

function argumentValue({ name, as }: ArgumentParameter, values: RequestValues): string | null {
  const texts = values.arguments.get(name) ?? [];
  return as === 'list' ? arrayLiteral(texts) : (texts.at(-1) ?? null);
}

/** JSON may stay bytes: json in binary format is its text. */
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
