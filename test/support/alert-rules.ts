/** Evaluates docker/monitoring/alerts.yml over scrapes of GET /metrics with promtool, Prometheus' own (package `prometheus`). */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RULES = join(__dirname, '../../docker/monitoring/alerts.yml');
const PROMTOOL = process.env.PROMTOOL ?? 'promtool';
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
/** Scrapes of 15 seconds before the fault, and after it. */
const [BEFORE, AFTER] = [20, 100];

export const hasPromtool = spawnSync(PROMTOOL, ['--version']).status === 0;

/** Series with their value, those of the metrics that the rules name. */
function seriesOf(text: string): Map<string, string> {
  const rules = readFileSync(RULES, 'utf8');
  const series = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (!rules.includes(name) || name === '' || !Number.isFinite(Number(value))) continue;
    const all = [...(labels === '' ? [] : [labels]), 'instance="plinth:9090"', 'job="plinth"'];
    series.set(`${name}{${all.join(',')}}`, value);
  }
  return series;
}

/**
 * @param before a scrape without the fault @param after one with it, which lasts
 * @param among the names of the alerts to try
 * @returns the names of the alerts that fire only then, with the times that the rules wait
 */
export function firedBy(before: string, after: string, among = /^/): string[] {
  const [first, then] = [seriesOf(before), seriesOf(after)];
  const inputs = [...new Set([...first.keys(), ...then.keys()])].map((series) => {
    const [from, to] = [first.get(series), then.get(series)];
    const values = (value: string | undefined, count: number): string =>
      value === undefined ? `_x${count}` : `${value}+0x${count - 1}`;
    return { series, values: `${values(from, BEFORE)} ${values(to, AFTER)}` };
  });
  const rules = readFileSync(RULES, 'utf8').split('- alert: ').slice(1);
  return rules
    .map((rule) => ({
      name: /^\w+/.exec(rule)?.[0] ?? '',
      minutes: Number(/for: (\d+)m/.exec(rule)?.[1] ?? 0),
    }))
    .filter(({ name }) => among.test(name))
    .filter(({ name, minutes }) => {
      const isFiring = `count(ALERTS{alertname="${name}",alertstate="firing"}) > bool 0`;
      return (
        minutes < 20 &&
        passes(inputs, [
          { expr: isFiring, eval_time: '4m', exp_samples: [] },
          { expr: isFiring, eval_time: `${6 + minutes}m`, exp_samples: [{ labels: '{}', value: 1 }] },
        ])
      );
    })
    .map(({ name }) => name);
}

function passes(inputs: object[], checks: object[]): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-rules-'));
  try {
    const file = join(directory, 'test.yml');
    // JSON is YAML.
    const tests = [{ interval: '15s', input_series: inputs, promql_expr_test: checks }];
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '15s', tests }));
    const { status, stdout, stderr } = spawnSync(PROMTOOL, ['test', 'rules', file], { encoding: 'utf8' });
    if (status !== 0 && !/FAILED:[\s\S]*(expr|got)/.test(stdout + stderr)) throw new Error(stdout + stderr);
    return status === 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
