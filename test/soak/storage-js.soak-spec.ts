/**
 * The suite of `@supabase/storage-js` against Plinth, unmodified except for address and key. STORAGE_JS_CHECKOUT names
 * its package in a checkout of github.com/supabase/supabase-js (`packages/core/storage-js`) with its development
 * dependencies installed; without it, the test is skipped.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSuite } from '../support/client-suite';
import { TestPlinth } from '../support/plinth';
import type { TestProject } from '../support/test-project';

const CHECKOUT = process.env.STORAGE_JS_CHECKOUT;

/** The buckets of the suite's seed.sql, with the owner and the time that its snapshots show. */
const SEED = `insert into storage.buckets (name, slug, owner_id, created_at, updated_at)
  select name, name, '4d56e902-f0a0-4662-8448-a4d9e643c142', '2021-02-17T04:43:32.770Z', '2021-02-17T04:43:32.770Z'
    from unnest(array['bucket2', 'bucket3', 'bucket4', 'bucket5', 'bucket-move']) name`;

/** Failing tests by their full names, each with its reason. */
const EXPECTED_FAILURES: Readonly<Record<string, string>> = {};

let plinth: TestPlinth;
let project: TestProject;
let directory: string;

beforeAll(async () => {
  if (CHECKOUT === undefined) return;
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.sql(SEED);
  directory = mkdtempSync(join(tmpdir(), 'plinth-storage-js-'));
});
afterAll(async () => {
  await plinth?.stop();
  if (directory) rmSync(directory, { recursive: true, force: true });
});

(CHECKOUT === undefined ? it.skip : it)(
  'passes, except for the listed tests',
  async () => {
    const results = await runSuite(CHECKOUT ?? '', directory, useProject, { pattern: 'test/storage' });
    const failed = results.filter(({ status }) => status === 'failed');
    const passed = results.filter(({ status }) => status === 'passed').length;
    process.stdout.write(`storage-js: ${passed} passed, ${failed.length} failed\n`);
    const unexpected = failed.filter(({ fullName }) => !Object.hasOwn(EXPECTED_FAILURES, fullName));
    expect(unexpected.map(({ fullName, failureMessages }) => [fullName, failureMessages])).toEqual([]);
    expect(passed).toBeGreaterThan(140);
  },
  600_000,
);

/** Replaces the address and the key, which the files of the suite contain. */
function useProject(): Promise<void> {
  const test = join(directory, 'test');
  for (const name of readdirSync(test).filter((one) => one.endsWith('.ts'))) {
    const file = join(test, name);
    const text = readFileSync(file, 'utf8')
      .replaceAll('http://127.0.0.1:54321/storage/v1', `${plinth.baseUrl}/p/${project.slug}/storage/v1`)
      .replace(/'eyJ[^']*'/, `'${project.serviceKey}'`);
    writeFileSync(file, text);
  }
  return Promise.resolve();
}
