/**
 * Properties of the files for Kubernetes, Compose and systemd. test/soak/deployment.soak-spec.ts checks all deployment
 * files with linters.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { TUNING } from '../../src/config/tuning';

const ROOT = join(__dirname, '../..');

interface Probe {
  readonly httpGet: { path: string; port: string };
}

interface Container {
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: object;
}

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly replicas: number;
    readonly minAvailable: number;
    readonly strategy: object;
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly securityContext: object;
      };
    };
  };
}

const documentsOf = (file: string): Manifest[] =>
  readFileSync(join(ROOT, 'deploy/kubernetes', file), 'utf8')
    .split(/^---$/m)
    .map((text) => load(text) as Manifest);

function ofKind(file: string, kind: string): Manifest {
  const found = documentsOf(file).find((one) => one.kind === kind);
  if (!found) throw new Error(`${file} has no ${kind}`);
  return found;
}

/**
 * Seconds that Plinth may need to stop (docs/guides/operations.md): requests, connections, and the embedded PostgreSQL.
 */
function stopLimit(isEmbedded: boolean): number {
  const requests = Number(/SHUTDOWN_TIMEOUT=(\d+)/.exec(read('.env.example'))?.[1]);
  return requests + 10 + (isEmbedded ? TUNING.databaseStopMs / 1_000 + 5 : 0);
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const seconds = (file: string, setting: RegExp): number => Number(setting.exec(read(file))?.[1]);

it.each([
  ['deploy/systemd/plinth.service', /^TimeoutStopSec=(\d+)$/m, true],
  ['deploy/kubernetes/single.yaml', /terminationGracePeriodSeconds: (\d+)$/m, true],
  ['deploy/kubernetes/replicas.yaml', /terminationGracePeriodSeconds: (\d+)$/m, false],
  ['docker/compose.single.yml', /stop_grace_period: (\d+)s$/m, true],
  ['docker/compose.yml', /stop_grace_period: (\d+)s$/m, false],
  ['docker/compose.cluster.yml', /stop_grace_period: (\d+)s$/m, false],
  ['docs/guides/containers.md', /docker stop -t (\d+)/, true],
])('%s gives Plinth enough time to stop', (file, setting, isEmbedded) => {
  expect(seconds(file, setting)).toBeGreaterThan(stopLimit(isEmbedded));
});

describe.each([
  ['replicas.yaml', 'Deployment'],
  ['single.yaml', 'StatefulSet'],
])('deploy/kubernetes/%s', (file, kind) => {
  const { template, selector } = ofKind(file, kind).spec;
  const [container] = template.spec.containers as [Container];

  it('has probes: the start and the liveness do not depend on the database, the readiness does', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    expect(paths).toEqual([
      { path: '/health/live', port: 'http' },
      { path: '/health/live', port: 'http' },
      { path: '/health/ready', port: 'http' },
    ]);
  });

  it('runs without privileges, with a read-only root', () => {
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 0,
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('selects its own pods', () => expect(template.metadata.labels).toEqual(selector.matchLabels));
});

it.each([
  ['replicas.yaml', /^s3:/],
  ['single.yaml', /^file:\/\/\/backups$/],
])('deploy/kubernetes/%s stores backups where they outlive the pod and the data', (file, where) => {
  const { data } = ofKind(file, 'ConfigMap') as Manifest & { data: Record<string, string> };
  expect(data.BACKUP_URL).toMatch(where);
});

it('updates replicas one after the other, and keeps one during a disruption', () => {
  const { replicas, strategy, selector } = ofKind('replicas.yaml', 'Deployment').spec;
  expect(strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  const budget = ofKind('replicas.yaml', 'PodDisruptionBudget').spec;
  expect(budget.selector).toEqual(selector);
  expect([budget.minAvailable >= 1, replicas > budget.minAvailable]).toEqual([true, true]);
});

it('gives the Helm chart the version of Plinth', () => {
  const { version } = JSON.parse(read('package.json'));
  expect(load(read('deploy/helm/plinth/Chart.yaml'))).toMatchObject({ version, appVersion: version });
});
