/**
 * The suite of `@supabase/auth-js` against Plinth, unmodified except for address and keys. AUTH_JS_CHECKOUT names its
 * package in a checkout of github.com/supabase/supabase-js (`packages/core/auth-js`) with its development dependencies
 * installed; without it, the test is skipped.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runSuite } from '../support/client-suite';
import { TestPlinth } from '../support/plinth';
import type { TestProject } from '../support/test-project';

const CHECKOUT = process.env.AUTH_JS_CHECKOUT;

/** The settings that correspond to `test/supabase/config.toml` of the suite. */
const SETTINGS = {
  anonymous_signin_enabled: true,
  site_url: 'http://127.0.0.1:3000',
  redirect_urls: ['https://127.0.0.1:3000', 'http://localhost:5173'],
  passkeys_enabled: true,
  webauthn_rp_id: 'localhost',
  webauthn_origins: ['http://localhost:5173'],
  oauth_server_enabled: true,
};

/** Failing tests by the beginning of their full names, each with its reason. */
const EXPECTED_FAILURES: readonly (readonly [prefix: string, reason: string])[] = [
  [
    'GoTrueClient signInWithOtp signInWithOtp() with PKCE flow should return error',
    'the answer does not reveal whether an address has an account',
  ],
  ...[
    'GoTrueClient with storageisServer = true getSession emits no warnings if getUser is called prior',
    'GoTrueClient with throwOnError option updateUser() should throw an error when throwOnError is true',
    'GoTrueClient with skipAutoInitialize option should work with lazy initialization in public methods',
  ].map((name) => [name, 'the client sends no apikey'] as const),
];

let plinth: TestPlinth;
let project: TestProject;
let directory: string;

beforeAll(async () => {
  if (CHECKOUT === undefined) return;
  plinth = await TestPlinth.start({
    env: { AUTH_REQUESTS_PER_MINUTE: '600000', AUTH_FAILURES_PER_ADDRESS: '100000' },
  });
  project = await plinth.createProject({ settings: SETTINGS });
  directory = mkdtempSync(join(tmpdir(), 'plinth-auth-js-'));
});
afterAll(async () => {
  await plinth?.stop();
  if (directory) rmSync(directory, { recursive: true, force: true });
});

(CHECKOUT === undefined ? it.skip : it)(
  'passes, except for the listed tests',
  async () => {
    const results = await runSuite(CHECKOUT ?? '', directory, async () => {
      await promisify(execFile)(process.execPath, [join(directory, 'test/generate-signing-keys.js')]);
      useProject(join(directory, 'test/lib/clients.ts'));
    });
    const failed = results
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n').slice(0, 500)}`);
    const passed = results.filter(({ status }) => status === 'passed').length;
    process.stdout.write(`auth-js: ${passed} passed, ${failed.length} failed\n`);
    const isExpected = (text: string): boolean =>
      EXPECTED_FAILURES.some(([prefix]) => text.startsWith(prefix));
    expect(failed.filter((text) => !isExpected(text))).toEqual([]);
    expect(passed).toBeGreaterThan(500);
  },
  600_000,
);

/** Replaces address and keys, because the suite signs keys with a secret of Supabase's CLI. */
function useProject(file: string): void {
  const constants: Readonly<Record<string, string>> = {
    GOTRUE_URL_SIGNUP_ENABLED_AUTO_CONFIRM_ON: `${plinth.baseUrl}/p/${project.slug}/auth/v1`,
    GOTRUE_JWT_SECRET: project.jwtSecret,
    SUPABASE_PUBLISHABLE_KEY: project.anonKey,
    SUPABASE_SECRET_KEY: project.serviceKey,
    AUTH_ADMIN_JWT: project.serviceKey,
  };
  let text = readFileSync(file, 'utf8');
  for (const [name, value] of Object.entries(constants)) {
    const changed = text.replace(
      new RegExp(`const ${name} = (jwt\\.sign\\([^]*?\\n\\)|'[^']*')`),
      `const ${name} = ${JSON.stringify(value)}`,
    );
    if (changed === text) throw new Error(`the suite has no constant ${name} any more`);
    text = changed;
  }
  writeFileSync(file, text);
}
