/**
 * Checks the casts that a client asks for. A cast from a number to `regclass` or a similar type would reveal
 * the name of any table, function or role, whatever the caller's privileges.
 */
import type { AppError } from '../../common/errors/app-error';
import type { Operation } from '../grammar/tree';
import { restError, statedError } from '../rest.errors';
import { findRelation, isVisible, type PlanContext } from './plan-context';

/** PostgreSQL always searches this schema first, even if the search_path leaves it out. */
const SYSTEM_SCHEMA = 'pg_catalog';

/** A type name as PostgreSQL reads it: unquoted names are folded to lower case. Example: `id::double  PRECISION` */
export function castName(cast: string): string {
  return cast.toLowerCase().split(/ +/).join(' ');
}

/**
 * @throws AppError PL158 for a type that shows names of the system catalog, 42704 for a type that is hidden from
 * the caller
 */
export function planCast(context: PlanContext, cast: string | null): string | null {
  if (cast === null) return null;
  const name = castName(cast);
  const path = [context.schema, ...context.extraSearchPath];
  const { revealingTypes } = context.catalog;
  if ([SYSTEM_SCHEMA, ...path].some((schema) => revealingTypes.get(schema)?.has(name)))
    throw castRefused(name);
  if (isHiddenRow(context, path, name)) throw undefinedObject(`type "${name}"`);
  return cast;
}

/** Each relation has a row type with its name; the array type's name has an underscore before it. */
function isHiddenRow(context: PlanContext, path: readonly string[], name: string): boolean {
  const names = [name, name.replace(/^_+/, '')];
  return path.some((schema) =>
    names.some(
      (one) => findRelation(context, { schema, name: one }) && !isVisible(context, { schema, name: one }),
    ),
  );
}

function castRefused(name: string): AppError {
  return restError('PL158', {
    message: `A cast to "${name}" is not possible: its values name objects of the system catalog`,
    hint: 'Cast to another type, such as text or bigint.',
  });
}

/**
 * Checks the language of a text search. It is cast to regconfig, where a number could refer to any object of
 * the catalog.
 * Example: `/films?tsv=fts(french).amour`
 * @throws AppError 42704 for a number
 */
export function assertLanguage(operation: Operation): void {
  if (operation.kind !== 'text-search' || !/^\d+$/.test(operation.language ?? '')) return;
  throw undefinedObject(`text search configuration "${operation.language}"`);
}

function undefinedObject(what: string): AppError {
  return statedError('42704', 400, { message: `${what} does not exist` });
}
