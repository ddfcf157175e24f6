/** Errors about projects. */
import { AppError, httpError, invalidParameters } from '../common/errors/app-error';

export const projectNotFound = (): AppError =>
  new AppError(404, 'project_not_found', 'There is no such project', { database: { sqlstate: 'PL404' } });

/** @param isMadeUp the slug was generated, and every attempt collided */
export const slugTaken = (slug: string, isMadeUp: boolean): AppError =>
  new AppError(
    409,
    'project_already_exists',
    `The slug "${slug}" is taken${isMadeUp ? '' : '; choose another one, or let Plinth generate one'}`,
  );

export const nameWithoutSlug = (): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    'No slug can be made from this name; choose one, or let Plinth generate one',
  );

export const invalidSlug = (): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    'slug must be 2 to 40 lower-case letters, digits and hyphens, beginning with a letter',
  );

export const projectBusy = (): AppError =>
  new AppError(409, 'conflict', 'Another request is creating, moving or deleting this project', {
    headers: { 'Retry-After': '1' },
  });

export const projectChanged = (): AppError =>
  new AppError(
    409,
    'conflict',
    'The project was changed after you read it: read it again, then repeat your change',
  );

export const projectMoving = (): AppError =>
  httpError(503, 'The project is being moved to another server: try again in a moment');

export const databaseServerUnusable = (cause: Error): AppError =>
  new AppError(400, 'invalid_parameters', `database_url: ${cause.message.replace(/\s*\n\s*-?\s*/g, ' ')}`, {
    cause,
  });

export const noSigningKeys = (): AppError =>
  new AppError(
    409,
    'conflict',
    'The secret of the project signs its tokens (jwt_algorithm is HS256): rotate all keys',
  );

export const keyNotFound = (): AppError => new AppError(404, 'not_found', 'The project has no such key');

/** @param limit the maximum number of keys */
export const tooManyKeys = (limit: number): AppError =>
  new AppError(409, 'conflict', `A project has at most ${limit} such keys: revoke a key that is not used`);

export const unknownRole = (role: string): AppError =>
  invalidParameters(
    `role: requests cannot have the role "${role}"; create it in SQL, and grant it to the login role of the project`,
  );
