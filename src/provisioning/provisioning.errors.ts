import { AppError } from '../common/errors/app-error';

export const databaseTaken = (database: string): AppError =>
  new AppError({
    status: 409,
    code: 'project_already_exists',
    message: `The PostgreSQL server has a database "${database}" that does not belong to this installation: restore a copy under another slug`,
  });
