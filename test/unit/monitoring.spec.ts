/** The dashboard of docker/monitoring is valid, and each alert has its runbook. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const DASHBOARD = read('docker/monitoring/grafana-dashboard.json');
const ALERTS = read('docker/monitoring/alerts.yml');

it('the dashboard is valid JSON without the address of a data source', () => {
  const { panels } = JSON.parse(DASHBOARD) as { panels: { id: number; datasource: { uid: string } }[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ datasource }) => datasource.uid))).toEqual(new Set(['${datasource}']));
});

it('each alert has a runbook', () => {
  const anchors = [...read('docs/guides/operations.md').matchAll(/^### (Plinth\w+)$/gm)].map(
    ([, name = '']) => name.toLowerCase(),
  );
  const named = [...ALERTS.matchAll(/runbook: docs\/guides\/operations\.md#(\w+)/g)].map(
    ([, anchor]) => anchor,
  );
  expect(named.length).toBe([...ALERTS.matchAll(/- alert:/g)].length);
  expect(named.filter((anchor) => !anchors.includes(anchor ?? ''))).toEqual([]);
});
