/**
 * The suite of `@supabase/supabase-js` against Plinth, unmodified except for address and keys: its unit tests, and its
 * integration tests of tables, row-level security, sign-in, realtime with both versions of the protocol, files, and
 * tokens of a backend. SUPABASE_JS_CHECKOUT names its package in a checkout of github.com/supabase/supabase-js
 * (`packages/core/supabase-js`) with its dependencies installed; without it, the test is skipped.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSuite } from '../support/client-suite';
import { TestPlinth } from '../support/plinth';
import type { TestProject } from '../support/test-project';

const CHECKOUT = process.env.SUPABASE_JS_CHECKOUT;

/** Policies of files belong to `storage.files` (docs/storage-js.md). */
const BUCKET = `insert into storage.buckets (name, slug) values ('test-bucket', 'test-bucket');
  create policy "test-bucket public access" on storage.files for all
    using (bucket_id = (select id from storage.buckets where name = 'test-bucket'));
  create policy "test-bucket" on storage.buckets for select using (name = 'test-bucket');`;

/** Node.js before 22 has no WebSocket, and the suite's setup makes `require` global. */
const SETUP = `globalThis.WebSocket ??= require('ws'); globalThis.require ??= require;`;

let plinth: TestPlinth;
let project: TestProject;
let directory: string;

beforeAll(async () => {
  if (CHECKOUT === undefined) return;
  plinth = await TestPlinth.start({
    env: { AUTH_REQUESTS_PER_MINUTE: '600000', AUTH_FAILURES_PER_ADDRESS: '100000' },
  });
  project = await plinth.createProject({ plan: 'enterprise' });
  const migrations = join(CHECKOUT, 'supabase/migrations');
  for (const name of readdirSync(migrations))
    await project.sql(
      name.endsWith('_storage_anon_policy.sql') ? BUCKET : readFileSync(join(migrations, name), 'utf8'),
    );
  directory = mkdtempSync(join(tmpdir(), 'plinth-supabase-js-'));
});
afterAll(async () => {
  await plinth?.stop();
  if (directory) rmSync(directory, { recursive: true, force: true });
});

(CHECKOUT === undefined ? it.skip : it)(
  'passes',
  async () => {
    const results = await runSuite(CHECKOUT ?? '', directory, useProject, {
      pattern: 'test/(unit/|integration.test)',
      setup: SETUP,
    });
    const failed = results.filter(({ status }) => status === 'failed');
    const passed = results.filter(({ status }) => status === 'passed').length;
    process.stdout.write(`supabase-js: ${passed} passed, ${failed.length} failed\n`);
    expect(failed.map(({ fullName, failureMessages }) => [fullName, failureMessages])).toEqual([]);
    expect(passed).toBeGreaterThan(100);
  },
  600_000,
);

/** Replaces address and keys, which the file of integration tests contains. */
function useProject(): Promise<void> {
  const file = join(directory, 'test/integration.test.ts');
  const text = readFileSync(file, 'utf8')
    .replace(/const SUPABASE_URL = '[^']*'/, `const SUPABASE_URL = '${plinth.baseUrl}/p/${project.slug}'`)
    .replace(/const PUBLISHABLE_KEY =\s*'[^']*'/, `const PUBLISHABLE_KEY = '${project.anonKey}'`)
    .replace(/const JWT_SECRET = '[^']*'/, `const JWT_SECRET = '${project.jwtSecret}'`);
  writeFileSync(file, text);
  return Promise.resolve();
}
