/**
 * Every supported version of Node.js passes the unit and integration tests, the start tests, and end-to-end tests of
 * each area. The programs come from the npm registry; without it the tests are skipped.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../process/support/processes';

const run = promisify(execFile);

/** The oldest version that package.json allows, and the later supported versions. */
const VERSIONS = (process.env.PLINTH_NODE_VERSIONS ?? '20.19.0 22 24 26').split(' ');
const PACKAGE = `node-${process.platform}-${process.arch}`;
/** Time limit for one version. */
const LIMIT_MS = 2_400_000;
/** A file or more of each area. */
const SAMPLE = [
  'auth/(accounts|sessions|factors)',
  'rest/(insert|embedding|select-and-filter|update-and-delete|row-level-security|printed-rows)',
  'storage/(upload|download|signed-urls|providers)',
  'backup/(round-trip|cli|catalog|install)',
  'admin/(projects|cli|doctor)',
  'security/(headers|pipelined-requests|slow-bodies)',
  'staff/(sessions|passkeys)',
].map((files) => `test/e2e/${files}`);

const hasRegistry = spawnSync('npm', ['view', PACKAGE, 'name']).status === 0;

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-nodes-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function install(version: string): string {
  const folder = join(directory, version);
  execFileSync('npm', ['install', '--prefix', folder, '--no-save', `${PACKAGE}@${version}`], {
    stdio: 'ignore',
  });
  return join(folder, 'node_modules', PACKAGE, 'bin/node');
}

(hasRegistry ? it : it.skip).each(VERSIONS)(
  'Node.js %s passes (needs the npm registry)',
  async (version) => {
    const node = install(version);
    expect(execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()).toMatch(`v${version}`);
    const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
    const tests = [
      ['--selectProjects', 'unit'],
      ['--selectProjects', 'integration'],
      ['--selectProjects', 'e2e', '--testPathPatterns', SAMPLE.join('|')],
      ['--selectProjects', 'process', '--', 'test/process/start.proc-spec', 'test/process/tour.proc-spec'],
    ];
    for (const args of tests) {
      const { stderr } = await run(node, [jest, '-w', '1', ...args], {
        cwd: ROOT,
        maxBuffer: 64 * 1024 * 1024,
      });
      expect(stderr).toMatch(/^Tests: .*\d+ passed/m);
      expect(stderr).not.toMatch(/^Tests: .*failed/m);
    }
  },
  LIMIT_MS,
);
