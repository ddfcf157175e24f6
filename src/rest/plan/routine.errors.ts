/** Errors of calling functions. */
import type { AppError } from '../../common/errors/app-error';
import type { Routine } from '../catalog/catalog';
import type { MediaType } from '../grammar/rest-request';
import { restError } from '../rest.errors';
import type { PlanContext } from './plan-context';

/** @param contentType of the body; null without one */
export function routineNotFound(
  { schema }: PlanContext,
  name: string,
  given: readonly string[],
  overloads: readonly Routine[],
  contentType: MediaType | null,
): AppError {
  const isRaw = contentType !== null && ['text', 'xml', 'octet-stream'].includes(contentType.kind);
  const parameters = given.length === 0 ? ' without parameters' : null;
  const inMessage = isRaw ? '' : (parameters ?? `(${given.join(', ')})`);
  const inDetail = parameters ?? ` with parameter${given.length > 1 ? 's' : ''} ${given.join(', ')}`;
  return restError('PL202', {
    message: `Could not find the function ${schema}.${name}${inMessage} in the schema cache`,
    detail: `Searched for the function ${schema}.${name}${isRaw ? ' with a single unnamed parameter' : inDetail}${
      contentType?.kind === 'json' ? ' or with a single unnamed json/jsonb parameter' : ''
    }, but no matches were found in the schema cache.`,
    hint: hintFor(schema, name, overloads, isRaw),
  });
}

/** Only of functions of the very name that was called: others may not be the caller's to know. */
function hintFor(schema: string, name: string, overloads: readonly Routine[], isRaw: boolean): string | null {
  const [first] = overloads;
  if (!first || isRaw) return null;
  const names = first.arguments.map((argument) => argument.name).sort();
  return `Perhaps you meant to call the function ${schema}.${name}${names.length > 0 ? `(${names.join(', ')})` : ''}`;
}

export function ambiguousRoutine(routines: readonly Routine[]): AppError {
  const signatures = routines.map(
    (routine) =>
      `${routine.schema}.${routine.name}(${routine.arguments.map(({ name, type }) => `${name} => ${type}`).join(', ')})`,
  );
  return restError('PL203', {
    message: `Could not choose the best candidate function between: ${signatures.join(', ')}`,
    hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
  });
}
