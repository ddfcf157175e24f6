/** Errors of function calls, with PostgREST's messages. */
import type { AppError } from '../../common/errors/app-error';
import { JSON_HINT } from '../body/looks-like-json';
import type { Routine } from '../catalog/catalog';
import type { MediaType } from '../grammar/rest-request';
import { restError } from '../rest.errors';
import { isCallable, type PlanContext } from './plan-context';
import { mostSimilar, NEARLY } from '../../http/input/similar';

/** The type of the one unnamed argument that receives a whole body, by the body's media type. */
export const WHOLE_BODY_TYPES: Readonly<Partial<Record<string, string>>> = {
  text: 'text',
  xml: 'xml',
  'octet-stream': 'bytea',
};

/** The body that a function was called with. */
interface CalledWith {
  readonly contentType: MediaType;
  /** True for a body that looks like JSON, with any Content-Type. */
  readonly isJson: boolean;
}

/**
 * @param given names of the arguments in the request
 * @param overloads functions with that name, none of which fits
 * @param body null if there is none
 */
export function routineNotFound(
  context: PlanContext,
  name: string,
  given: readonly string[],
  overloads: readonly Routine[],
  body: CalledWith | null,
): AppError {
  const contentType = body && body.contentType;
  const routine = `${context.schema}.${name}`;
  const names = [...given].sort();
  const wholeType = contentType === null ? undefined : WHOLE_BODY_TYPES[contentType.kind];
  const without = names.length === 0 ? ' without parameters' : null;
  const inMessage = wholeType === undefined ? (without ?? `(${names.join(', ')})`) : '';
  return restError('PL202', {
    message: `Could not find the function ${routine}${inMessage} in the schema cache`,
    detail: `Searched for the function ${routine}${searched(names, without, wholeType, contentType)}, but no matches were found in the schema cache.`,
    hint:
      wholeType === undefined ? hintFor(context, name, names, overloads) : body?.isJson ? JSON_HINT : null,
  });
}

function searched(
  names: readonly string[],
  without: string | null,
  wholeType: string | undefined,
  contentType: MediaType | null,
): string {
  if (wholeType !== undefined) return ` with a single unnamed ${wholeType} parameter`;
  const listed = without ?? ` with parameter${names.length > 1 ? 's' : ''} ${names.join(', ')}`;
  return contentType?.kind === 'json' ? `${listed} or with a single unnamed json/jsonb parameter` : listed;
}

/**
 * The function of that name with the closest arguments, or else the function with the closest name; only
 * functions that the caller may call.
 */
function hintFor(
  context: PlanContext,
  name: string,
  names: readonly string[],
  overloads: readonly Routine[],
): string | null {
  const callable = overloads.filter((one) => isCallable(context, one));
  const similar =
    overloads.length > 0
      ? mostSimilar(
          argumentList(names),
          callable.map((one) => argumentList(one.arguments.map(nameOf).sort())),
        )
      : similarRoutine(context, name);
  if (similar === null) return null;
  const called = overloads.length > 0 ? `${name}${similar === '()' ? '' : similar}` : similar;
  return `Perhaps you meant to call the function ${context.schema}.${called}`;
}

function similarRoutine(context: PlanContext, name: string): string | null {
  const names = new Set<string>();
  for (const overloads of context.catalog.routines.values()) {
    const known = overloads.find((one) => one.schema === context.schema && isCallable(context, one));
    if (known) names.add(known.name);
  }
  return mostSimilar(name, [...names], NEARLY);
}

function argumentList(names: readonly string[]): string {
  return `(${names.join(', ')})`;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
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
