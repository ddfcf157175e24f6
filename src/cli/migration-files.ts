/** Reads a directory of migrations, `<digits>_<name>.sql`, and creates new files in it. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CliError, EXIT } from './cli-error';

export interface MigrationFile {
  /** Digits, as in the file's name. */
  readonly version: string;
  readonly name: string;
  readonly sql: string;
  /** Hexadecimal SHA-256 of `sql`. */
  readonly sha256: string;
  /** Path of the file, from the working directory or absolute as the directory was given. */
  readonly file: string;
}

const FILE_NAME = /^(\d{1,18})_([\w-]{1,200})\.sql$/;

/**
 * Files in the order of their versions. Line ends become line feeds, so that a checkout on Windows has the same checksums.
 * @throws CliError for a file with another name that ends in .sql, and for two files of one version
 */
export async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql'));
  const files = await Promise.all(names.map((name) => readMigration(directory, name)));
  files.sort((a, b) => (BigInt(a.version) < BigInt(b.version) ? -1 : 1));
  const twin = files.find((one, n) => n > 0 && BigInt(one.version) === BigInt(files[n - 1]?.version ?? -1));
  if (twin) throw new CliError(`${twin.file}: another file has the version ${twin.version} too`, EXIT.usage);
  return files;
}

async function readMigration(directory: string, fileName: string): Promise<MigrationFile> {
  const file = path.join(directory, fileName);
  const [, version, name] = FILE_NAME.exec(fileName) ?? [];
  if (version === undefined || name === undefined) {
    throw new CliError(
      `${file}: the name must be <number>_<name>.sql, with letters, digits, hyphens and underscores`,
      EXIT.usage,
    );
  }
  const sql = (await readFile(file, 'utf8')).replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  return { version, name, sql, sha256: createHash('sha256').update(sql).digest('hex'), file };
}

const TEMPLATE = `-- Runs in a transaction, unless the first line of this file is "-- plinth: no-transaction".

`;

/**
 * Creates an empty migration whose version is the time in UTC, to the second.
 * @returns the path of the file
 * @throws CliError when the name has no letters or digits
 */
export async function createMigration(directory: string, title: string, now: Date): Promise<string> {
  const name = title
    .toLowerCase()
    .replace(/[^\w-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 200);
  if (name === '') throw new CliError('The name must have letters or digits', EXIT.usage);
  await mkdir(directory, { recursive: true });
  const newest = (await readMigrations(directory)).at(-1)?.version ?? '0';
  const time = BigInt(now.toISOString().replace(/\D/g, '').slice(0, 14));
  const version = time > BigInt(newest) ? time : BigInt(newest) + 1n;
  const file = path.join(directory, `${version}_${name}.sql`);
  await writeFile(file, TEMPLATE, { flag: 'wx' });
  return file;
}
