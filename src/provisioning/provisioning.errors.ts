import { AppError } from '../common/errors/app-error';

export const databaseTaken = (database: string): AppError =>
  new AppError(
    409,
    'project_already_exists',
    `The PostgreSQL server has a database "${database}" that does not belong to this installation: restore a copy under another slug`,
  );
