/** Errors about the servers for projects' databases. */
import { AppError } from '../common/errors/app-error';

export const serverNotFound = (): AppError =>
  new AppError(404, 'server_not_found', 'There is no such server');

export const serverExists = (name: string): AppError =>
  new AppError(409, 'server_already_exists', `There is a server "${name}" already`);

export const serverInUse = (projects: number): AppError =>
  new AppError(409, 'conflict', `The server still has ${projects} projects`);

export const noRoom = (): AppError =>
  new AppError(
    409,
    'conflict',
    'No server has room for another project: add one, or raise the capacity of one',
  );

export const platformServerFixed = (): AppError =>
  new AppError(409, 'conflict', 'DATABASE_URL decides on the server of the platform database');

/** The project's database and slug exist, but the server does not answer. @param cause the error of the connection */
export const serverUnusable = (cause: Error): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    `The server cannot be used: ${cause.message.replace(/\s*\n\s*-?\s*/g, ' ')}`,
    { cause },
  );
