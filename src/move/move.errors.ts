/** Errors of moving a project to another PostgreSQL server. */
import { AppError } from '../common/errors/app-error';

const refusal = (message: string, cause?: unknown): AppError =>
  new AppError(409, 'move_refused', message, { cause });

export const alreadyThere = (server: string): AppError =>
  refusal(`The project is on the server "${server}" already`);

export const databaseExists = (server: string, database: string): AppError =>
  refusal(
    `The server "${server}" has a database "${database}" already: it may be the same server, or the project was there before and its old database was kept`,
  );

/**
 * @param bytes the size of the project's tables
 * @param reasons why changes cannot be followed in the meantime
 */
export const windowNeeded = (bytes: number, limit: number, reasons: readonly string[]): AppError =>
  refusal(
    `The project's tables have ${toMiB(bytes)} MiB. From ${toMiB(limit)} MiB on, changes must be followed while rows are copied, which is not possible here: ${reasons.join('; ')}. Set read_only_window to refuse writes during the whole copy instead`,
  );

export const slotNotReady = (seconds: number, cause: unknown): AppError =>
  refusal(
    `Transactions of the source server that write did not end within ${seconds} s, so changes could not be followed: try again`,
    cause,
  );

export const changesStopped = (cause?: unknown): AppError =>
  refusal(
    'The source server stopped sending changes of the project: it was restarted, or gave up the log that the move needs (max_slot_wal_keep_size)',
    cause,
  );

/** @param bytes the size of the log */
export const tooMuchLog = (bytes: number): AppError =>
  refusal(
    `The source server has to keep ${toMiB(bytes)} MiB of its write-ahead log for the move, which is too much: try again when fewer rows are written`,
  );

/** @param bytes the limit in bytes */
export const rowTooLong = (bytes: number): AppError =>
  refusal(`A row of more than ${toMiB(bytes)} MiB was written during the move`);

export const cannotCatchUp = (): AppError =>
  refusal(
    'Rows are written faster than they can be repeated on the target: try again when fewer are written',
  );

export const changeNotFollowed = (schema: string, name: string): AppError =>
  refusal(`A change of ${schema}.${name} could not be repeated on the target`);

/** @param seconds the limit in seconds */
export const viewsTooSlow = (seconds: number): AppError =>
  refusal(
    `The materialized views of the project take longer than ${seconds} s to refresh: set read_only_window to refuse writes during this time`,
  );

export const windowExceeded = (seconds: number): AppError =>
  refusal(`Rows and indexes were not copied within ${seconds} s, so writes are admitted again`);

export const writersHoldLocks = (cause: unknown): AppError =>
  refusal('Sessions that write to the project did not end in time: try again', cause);

export const schemaChanged = (): AppError =>
  refusal('The schema of the project was changed during the move: start it again');

export const largeObjectsChanged = (): AppError =>
  refusal('Large objects of the project were changed during the move: start it again');

export const copyDiffers = (table: string): AppError =>
  refusal(`The copy of ${table} does not have as many rows as the original`);

export const largeObjectsNeedSuperuser = (): AppError =>
  refusal(
    'The project has large objects: only an admin role with SUPERUSER can keep them unchanged during a move',
  );

export const sessionsRemain = (count: number): AppError =>
  refusal(`${count} sessions of other roles in the project's database could not be ended`);

export const rolesNeedNewerServer = (names: readonly string[]): AppError =>
  refusal(`The owner's own roles (${names.join(', ')}) need PostgreSQL 16 or later on the target`);

export const rolesExist = (names: readonly string[]): AppError =>
  refusal(
    `The target has roles (${names.join(', ')}), which the project's owner made on the source too: rename them`,
  );

export const moveInterrupted = (): AppError => refusal('The move was interrupted');

/** The platform database was restored to a moment before the end of the move. */
export const copyKept = (server: string): AppError =>
  refusal(
    `The project was in service on the server "${server}" already. Its newer database there was kept; drop it, or restore the platform database to a later moment`,
  );

export const noMove = (): AppError => new AppError(404, 'move_not_found', 'The project was never moved');

const toMiB = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);
