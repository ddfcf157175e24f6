/** The values of one request, for the parameters of the statements that its shape shares with others. */
import type { RequestBody } from '../body/request-body';
import type { RequestValues } from '../compile/parameter';
import { type QueryValues, textsByName } from '../grammar/query-values';

/** @param body null without one */
export function requestValues(values: QueryValues, body: RequestBody | null): RequestValues {
  return {
    filters: values.filters,
    arguments: body?.fields ? textsByName(body.fields) : values.arguments,
    body: body?.payload?.json ?? body?.bytes ?? null,
  };
}
