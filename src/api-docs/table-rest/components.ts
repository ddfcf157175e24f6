/** The components of table REST that do not depend on a table. */
import type { DocumentWriter } from '../openapi/document-writer';
import { FILTER_SCHEMAS } from './filter-schemas';
import { ERROR_RESPONSES, ERROR_SCHEMAS } from './rest-errors';
import { SHARED_HEADERS, SHARED_PARAMETERS } from './rest-parameters';

const SCHEMAS = { ...ERROR_SCHEMAS, ...FILTER_SCHEMAS };

/** Names that a project's tables cannot have. */
export const TABLE_REST_NAMES = {
  schemas: Object.keys(SCHEMAS),
  parameters: Object.keys(SHARED_PARAMETERS),
} as const;

/** Adds the components that the paths in the document refer to. */
export function addTableRest(writer: DocumentWriter): void {
  writer.addUsed('parameters', Object.entries(SHARED_PARAMETERS));
  writer.addUsed('responses', Object.entries(ERROR_RESPONSES));
  writer.addUsed('headers', Object.entries(SHARED_HEADERS));
  writer.addUsed('schemas', Object.entries(SCHEMAS));
}
