/** Migrations that are found in their folder, so that a new one needs no entry in a list. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { MigrationInterface } from 'typeorm';

export type Migration = new () => MigrationInterface;

const FOLDER = path.join(__dirname, '../../../migrations');
const FILE = /^\d{13}-[a-z\d-]+\.[jt]s$/;

/** In the order in which they are applied: by the times at the beginning of their names. */
export function migrationsIn(folder: 'platform' | 'project'): Migration[] {
  const names = readdirSync(path.join(FOLDER, folder)).filter((name) => FILE.test(name));
  return names.toSorted().flatMap((name) => {
    // oxlint-disable-next-line typescript/no-require-imports -- files that are found when the process starts
    return Object.values(require(path.join(FOLDER, folder, name)) as Record<string, Migration>);
  });
}
