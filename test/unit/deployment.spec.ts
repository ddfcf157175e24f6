/** The Kubernetes manifests keep their promises; test/soak/deployment.soak-spec.ts checks all deployment files with linters. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';

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
        readonly terminationGracePeriodSeconds: number;
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

/** Seconds that Plinth may take to stop (.env.example). */
function shutdownTimeout(): number {
  const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
  return Number(/SHUTDOWN_TIMEOUT=(\d+)/.exec(example)?.[1]);
}

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

  it('selects its own pods, and gives them time to stop', () => {
    expect(template.metadata.labels).toEqual(selector.matchLabels);
    const limit = shutdownTimeout();
    expect(limit).toBeGreaterThan(0);
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(limit);
  });
});

it('updates replicas one after the other, and keeps one during a disruption', () => {
  const { replicas, strategy, selector } = ofKind('replicas.yaml', 'Deployment').spec;
  expect(strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  const budget = ofKind('replicas.yaml', 'PodDisruptionBudget').spec;
  expect(budget.selector).toEqual(selector);
  expect([budget.minAvailable >= 1, replicas > budget.minAvailable]).toEqual([true, true]);
});
