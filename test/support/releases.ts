/** Builds of other versions of Plinth than the one of this clone. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const MIGRATIONS = 'src/projects/provisioning/project-migrations.js';
const LIST = /(const PROJECT_MIGRATIONS = \[)([^\]]*)\]/;

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
 * A release after this one: the same build with one more migration of the projects, which adds `auth.users.later`.
 * @returns the folder of the build
 */
export function buildLaterRelease(folder: string): string {
  const build = join(folder, 'dist');
  cpSync(join(ROOT, 'dist'), build, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  shareModules(folder);
  const file = join(build, MIGRATIONS);
  const source = readFileSync(file, 'utf8');
  const later = `class Later9990000000000 {
    name = 'Later9990000000000';
    async up(runner) { await runner.query('alter table auth.users add column later integer not null default 7'); }
    async down(runner) { await runner.query('alter table auth.users drop column later'); }
  }`;
  const patched = source.replace(LIST, (_all, begin: string, items: string) => `${begin}${items}, ${later}]`);
  if (patched === source) throw new Error(`${MIGRATIONS} has no list of migrations`);
  writeFileSync(file, patched);
  return build;
}

function shareModules(folder: string): void {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}
