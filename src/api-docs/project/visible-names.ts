/** The names of the objects that a role may see: the same in its document and in its types of TypeScript. */
import { inSlices } from '../../common/time/slices';
import { METHODS } from '../openapi/model';
import { TABLE_REST_NAMES } from '../table-rest/components';
import { GENERATOR_NAMES } from './names';
import { nameObjects, type ObjectNames } from './object-names';
import type { PlatformPart } from './platform-part';
import { typeName } from './project-facts';
import type { VisibleSchema } from './visible-schema';

/** @param part auth and storage in the document of the same role: its schemas and operations keep their names */
export function visibleNames(visible: VisibleSchema, part: PlatformPart): Promise<ObjectNames> {
  const types = [...visible.types.values()];
  const steps = nameObjects({
    relations: visible.relations.map(({ relation }) => relation),
    types: types.filter(({ usable, labels, attributes }) => usable && (labels ?? attributes)).map(typeName),
    routines: visible.callable.map(([first]) => first),
    reservedSchemas: [
      ...GENERATOR_NAMES,
      ...TABLE_REST_NAMES.schemas,
      ...Object.keys(part.components.schemas ?? {}),
    ],
    reservedOperations: [...part.paths.values()].flatMap((item) =>
      METHODS.flatMap((method) => item[method]?.operationId ?? []),
    ),
    defaultSchema: visible.defaultSchema,
  });
  return inSlices(steps);
}
