/** Builds of versions of Plinth other than this clone. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
/** Adds a column to a table of every project. */
const projectMigration = (name: string, later: string): string => `exports.${name} = class ${name} {
  name = '${name}';
  async up(runner) { await runner.query('alter table auth.users add column ${later} integer not null default 7'); }
  async down(runner) { await runner.query('alter table auth.users drop column ${later}'); }
}`;
/** Adds a table to the platform database slowly. */
const platformMigration = (name: string, later: string): string => `exports.${name} = class ${name} {
  name = '${name}';
  async up(runner) {
    await runner.query('create table ${later} (step integer primary key)');
    for (let step = 1; step <= 10; step += 1) {
      await runner.query('insert into ${later} values ($1)', [step]);
      await runner.query('select pg_sleep(0.05) as later');
    }
  }
  async down(runner) { await runner.query('drop table ${later}'); }
}`;

/** Whether the clone has the history of a commit. */
export function hasCommit(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).status === 0;
}

/** Builds a commit. @returns the folder of the build */
export function buildCommit(commit: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const sources = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 512 * 1024 * 1024 });
  execFileSync('tar', ['-x', '-C', folder], { input: sources });
  shareModules(folder);
  execFileSync(process.execPath, [join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js'), 'build'], {
    cwd: folder,
  });
  return join(folder, 'dist');
}

/**
 * A release after this one: the same build with one more migration of the platform, which adds the table `later` with ten
 * rows, and one of the projects, which adds `auth.users.later`. The release after it adds `later2` to both, and so on.
 * @returns the folder of the build
 */
export function buildLaterRelease(folder: string, releases = 1): string {
  const build = join(folder, 'dist');
  cpSync(join(ROOT, 'dist'), build, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  shareModules(folder);
  for (let release = 1; release <= releases; release += 1) {
    const [time, later] = [9_990_000_000_000 + release - 1, release === 1 ? 'later' : `later${release}`];
    const file = `${time}-later.js`;
    writeFileSync(join(build, 'migrations/project', file), projectMigration(`Later${time}`, later));
    writeFileSync(join(build, 'migrations/platform', file), platformMigration(`Later${time}`, later));
  }
  return build;
}

function shareModules(folder: string): void {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}
