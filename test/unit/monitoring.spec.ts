/** docker/monitoring names only metrics that Plinth has, and each alert has its runbook. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const DASHBOARD = read('docker/monitoring/grafana-dashboard.json');
const ALERTS = read('docker/monitoring/alerts.yml');

const metrics = new Set(
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(join('src', file)).matchAll(/'(plinth_[a-z_]+)'/g)].map(([, name]) => name)),
);

it.each([
  ['the dashboard', DASHBOARD],
  ['the alert rules', ALERTS],
])('%s names only metrics of Plinth', (_file, text) => {
  const named = [...text.matchAll(/\b(plinth_[a-z_]+?)(_bucket)?\b/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !metrics.has(name))).toEqual([]);
});

it('the dashboard is whole JSON without the address of a data source', () => {
  const { panels } = JSON.parse(DASHBOARD) as { panels: { id: number; datasource: { uid: string } }[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ datasource }) => datasource.uid))).toEqual(new Set(['${datasource}']));
});

it('each alert has a runbook', () => {
  const anchors = [...read('docs/operations.md').matchAll(/^### (Plinth\w+)$/gm)].map(([, name = '']) =>
    name.toLowerCase(),
  );
  const named = [...ALERTS.matchAll(/runbook: docs\/operations\.md#(\w+)/g)].map(([, anchor]) => anchor);
  expect(named.length).toBe([...ALERTS.matchAll(/- alert:/g)].length);
  expect(named.filter((anchor) => !anchors.includes(anchor ?? ''))).toEqual([]);
});
