/**
 * The files for containers, Kubernetes and systemd pass checks of others: Kubernetes' types without unknown fields, linters of
 * Dockerfiles and Compose files, systemd-analyze. The first three come from the npm registry; without it they are skipped.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { ROOT } from '../process/support/processes';

const TOOLS = ['kubernetes-types@1.30.0', 'dockerfilelint@1.8.0', 'dclint@3.1.0'];
const LIMIT_MS = 120_000;
const hasRegistry = spawnSync('npm', ['view', 'dclint', 'name']).status === 0;
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const withTools = hasRegistry ? it : it.skip;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-deployment-'));
  if (!hasRegistry) return;
  writeFileSync(join(directory, 'package.json'), '{}');
  const options = ['--prefix', directory, '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...options, ...TOOLS], { stdio: 'ignore' });
}, 300_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(program: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd: ROOT }, (_error, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
}

/** `apps/v1` to `apps/v1`, `v1` to `core/v1`, `networking.k8s.io/v1` to `networking/v1` */
const moduleOf = ({ apiVersion }: Resource): string =>
  apiVersion.includes('/') ? apiVersion.replace('.k8s.io', '') : `core/${apiVersion}`;

/** Compiles the manifest as values of Kubernetes' types. @returns the errors */
async function faultsOf(manifest: string): Promise<string[]> {
  const resources = manifest.split(/^---$/m).map((text) => load(text) as Resource);
  const source = resources.map(
    (resource, n) =>
      `import type { ${resource.kind} as T${n} } from 'kubernetes-types/${moduleOf(resource)}';\n` +
      `export const r${n}: T${n} = ${JSON.stringify(resource, null, 1)};\n`,
  );
  const file = join(directory, 'manifest.ts');
  writeFileSync(file, source.join(''));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    // No types of other packages.
    '--typeRoots',
    join(directory, 'none'),
    '--moduleResolution',
    'node10',
  ];
  const { output } = await run(process.execPath, compiler, ...options, file);
  return output.split('\n').filter((line) => line.includes('error'));
}

withTools.each(['replicas.yaml', 'single.yaml'])(
  'deploy/kubernetes/%s has only what Kubernetes knows (needs the npm registry)',
  async (file) => {
    const manifest = readFileSync(join(ROOT, 'deploy/kubernetes', file), 'utf8');
    expect(await faultsOf(manifest)).toEqual([]);
    const faults = await faultsOf(
      manifest.replace('matchLabels:', 'matchLabel:').replace('httpGet:', 'http:'),
    );
    expect(faults).toEqual([expect.stringContaining('"matchLabel"'), expect.stringContaining('"http"')]);
  },
  LIMIT_MS,
);

withTools(
  'docker/Dockerfile passes a linter (needs the npm registry)',
  async () => {
    const linter = join(directory, 'node_modules/.bin/dockerfilelint');
    const { output } = await run(linter, '--output', 'json', 'docker/Dockerfile');
    const [{ issues }] = JSON.parse(output).files as [{ issues: { content: string; title: string }[] }];
    // The linter knows neither the default of an ARG in FROM, nor the JSON form of HEALTHCHECK on two lines.
    const real = issues.filter(({ content }) => !/^FROM \$\{NODE_IMAGE\}|^HEALTHCHECK .*\\$/.test(content));
    expect(real).toEqual([]);
  },
  LIMIT_MS,
);

withTools(
  'the Compose files pass a linter (needs the npm registry)',
  async () => {
    const config = join(directory, 'dclint.json');
    // Their ports are meant for all addresses.
    writeFileSync(config, JSON.stringify({ rules: { 'no-unbound-port-interfaces': 0 } }));
    const linter = join(directory, 'node_modules/.bin/dclint');
    const { code, output } = await run(linter, '--quiet', '--config', config, 'docker');
    expect([code, output.trim()]).toEqual([0, '']);
    const broken = join(directory, 'compose.yml');
    const compose = readFileSync(join(ROOT, 'docker/compose.yml'), 'utf8');
    writeFileSync(broken, compose.replace('restart:', 'restarts:'));
    expect((await run(linter, '--quiet', '--config', config, broken)).code).not.toBe(0);
  },
  LIMIT_MS,
);

(hasSystemd ? it : it.skip)('the systemd unit is valid (needs systemd-analyze)', async () => {
  const { output } = await run('systemd-analyze', 'verify', 'deploy/systemd/plinth.service');
  expect(output.split('\n').filter((line) => line.includes('plinth.service'))).toEqual([]);
  const broken = join(directory, 'plinth.service');
  const unit = readFileSync(join(ROOT, 'deploy/systemd/plinth.service'), 'utf8');
  writeFileSync(broken, unit.replace('KillMode=mixed', 'KillMode=mixd'));
  expect((await run('systemd-analyze', 'verify', broken)).output).toMatch(/KillMode|mixd/);
});
