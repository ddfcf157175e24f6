/** Errors of a project's migrations, in addition to the database's errors (admin.errors.ts). */
import { AppError } from '../common/errors/app-error';
import { TextLocation } from '../common/text/sql-statements';

interface Named {
  readonly version: string;
  readonly name: string;
}

const label = ({ version, name }: Named): string => `${version}_${name}`;

export const transactionCommand = (migration: Named, command: string, location: TextLocation): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    `${command.toUpperCase()} is not allowed here, because the migration runs in a transaction; ` +
      'a first line "-- plinth: no-transaction" runs it without one',
    {
      extra: {
        migration: { version: migration.version, name: migration.name },
        database: { location },
      },
    },
  );

export const transactionEnded = (migration: Named): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    `Migration ${label(migration)} ended its transaction, so parts of it may be committed; it is not recorded`,
    { extra: { migration: { version: migration.version, name: migration.name } } },
  );

export const migrationsUnordered = (): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    'migrations must be in the order of their versions, each version once',
  );

export const migrationChanged = (migration: Named): AppError =>
  new AppError(
    409,
    'migration_changed',
    `Migration ${label(migration)} was applied with another content; add a new migration instead of changing it`,
    { extra: { migration: { version: migration.version, name: migration.name } } },
  );

export const migrationOutOfOrder = (migration: Named, newest: string): AppError =>
  new AppError(
    409,
    'migration_out_of_order',
    `Migration ${label(migration)} comes before ${newest}, which is applied; renumber it, or allow it with out_of_order`,
    { extra: { migration: { version: migration.version, name: migration.name } } },
  );

export const migrationsLocked = (seconds: number, cause: unknown): AppError =>
  new AppError(
    409,
    'migrations_locked',
    `Another run of this project's migrations did not end within ${seconds} s. ` +
      "The activity of the project's database shows its sessions as plinth-migrate, and can cancel them",
    { cause },
  );
