/**
 * Evaluates docker/monitoring/alerts.yml over scrapes of GET /metrics with Prometheus' promtool (package `prometheus`).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';

const RULES = join(__dirname, '../../docker/monitoring/alerts.yml');
const PROMTOOL = process.env.PROMTOOL ?? 'promtool';
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
/** Number of scrapes, 15 seconds apart, before the fault. */
const BEFORE = 20;
/** Minutes of scrapes after the fault, in addition to the waiting time of the rule. */
const LATER = 5;
const LIMIT_MS = 120_000;
const COUNT = /^\w+_(total|bucket|count|sum)\b/;

export const hasPromtool = spawnSync(PROMTOOL, ['--version']).status === 0;

/** Values of the series whose metrics the rules name. @param text null if the scrape failed */
function seriesOf(text: string | null): Map<string, string> {
  const rules = readFileSync(RULES, 'utf8');
  const series = new Map([['up{instance="plinth:9090",job="plinth"}', text === null ? '0' : '1']]);
  for (const line of (text ?? '').split('\n')) {
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (!rules.includes(name) || name === '' || !Number.isFinite(Number(value))) continue;
    const all = [...(labels === '' ? [] : [labels]), 'instance="plinth:9090"', 'job="plinth"'];
    series.set(`${name}{${all.join(',')}}`, value);
  }
  return series;
}

/**
 * @param before a scrape without the fault
 * @param after a scrape with the fault, which lasts: counters continue to grow as between the two scrapes
 * @param among the names of the alerts to evaluate
 * @returns the names of the alerts that fire only after the fault, with the times that the rules wait
 */
export function firedBy(before: string, after: string | null, among = /^/): string[] {
  const [first, then] = [seriesOf(before), seriesOf(after)];
  const inputs = (scrapes: number): object[] =>
    [...new Set([...first.keys(), ...then.keys()])].map((series) => {
      const [from, to] = [first.get(series), then.get(series)];
      const growth = COUNT.test(series) ? Number(to) - Number(from ?? 0) : 0;
      const values = (value: string | undefined, more: number, count: number): string =>
        value === undefined ? `_x${count}` : `${value}+${more}x${count - 1}`;
      return { series, values: `${values(from, 0, BEFORE)} ${values(to, growth, scrapes)}` };
    });
  const rules = readFileSync(RULES, 'utf8').split('- alert: ').slice(1);
  return rules
    .map((rule) => ({ name: /^\w+/.exec(rule)?.[0] ?? '', minutes: minutesOf(rule) }))
    .filter(({ name }) => among.test(name))
    .filter(({ name, minutes }) => {
      const isFiring = `count(ALERTS{alertname="${name}",alertstate="firing"}) > bool 0`;
      return passes(inputs((minutes + 2 * LATER) * 4), [
        { expr: isFiring, eval_time: '4m', exp_samples: [] },
        {
          expr: isFiring,
          eval_time: `${BEFORE / 4 + minutes + LATER}m`,
          exp_samples: [{ labels: '{}', value: 1 }],
        },
      ]);
    })
    .map(({ name }) => name);
}

/** Minutes that the rule waits. */
function minutesOf(rule: string): number {
  const [, count = '0', unit] = /for: (\d+)([mh])/.exec(rule) ?? [];
  return Number(count) * (unit === 'h' ? 60 : 1);
}

/** Scrapes until the alert fires, because some metrics are cached for a minute. */
export async function expectFired(
  before: string,
  alert: string,
  scrape: () => Promise<string | null>,
): Promise<void> {
  await eventually(
    async () => expect(firedBy(before, await scrape(), new RegExp(`^${alert}$`))).toEqual([alert]),
    LIMIT_MS,
  );
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
