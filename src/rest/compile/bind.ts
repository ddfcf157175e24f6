/** Compiled statements with a request's values: what goes to the database. */
import type { CompiledRequest, CompiledStatement } from './compile-request';
import type { JsonRow } from '../../row-stream/json-row';
import type { RequestValues } from './parameter';

export interface BoundStatement {
  readonly text: string;
  readonly name: string;
  readonly values: readonly (string | number | Buffer | null)[];
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
  return { text, name, values: parameters.map((parameter) => values.of(parameter)), row };
}
