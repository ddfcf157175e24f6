/**
 * The embedded PostgreSQL crashes while Plinth runs. Plinth restarts it and loses no acknowledged change. Every area
 * returns 503 until then, and all users of connections recover. workers.proc-spec.ts has a crash with several processes.
 */
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { casesOf, IN_SOAK } from '../support/extent';
import { CrashingInstall, CrashLoad, SERVES_AGAIN_MS } from './support/crashing-install';

const UNTIL_GIVEN_UP_MS = 90_000;

/** An invalid setting that PostgreSQL reads only at a start, so that the next start fails. */
function breakSettings({ clusterDir }: CrashingInstall): () => void {
  const file = join(clusterDir, 'postgresql.auto.conf');
  const good = readFileSync(file, 'utf8');
  appendFileSync(file, "max_connections = 'many'\n");
  return () => writeFileSync(file, good);
}

const CRASHES = [
  ['the postmaster', 'SIGKILL'],
  ['a backend', 'SIGKILL'],
  ['the postmaster', 'SIGQUIT'],
  ['the postmaster', 'SIGINT'],
  ['a backend', 'SIGABRT'],
] as const;

describe('an embedded PostgreSQL that crashes', () => {
  let install: CrashingInstall;

  beforeAll(async () => {
    install = await CrashingInstall.start();
  }, 120_000);
  afterAll(() => install.end(), 60_000);

  it.each(casesOf(CRASHES, 2))(
    'recovers under load after %s received %s, with all acknowledged changes',
    async (which, signal) => {
      await install.sql('truncate numbers');
      const load = new CrashLoad(install);
      await load.progress();
      const victim = which === 'the postmaster' ? install.postmaster : await install.backend();
      process.kill(victim, signal);
      await eventually(async () => expect(load.unavailable).toBeGreaterThan(0), SERVES_AGAIN_MS);
      await install.servesAgain();
      await load.progress();
      await load.expectNothingLost();
      await install.expectEverythingRecovered();
      expect(install.plinth.child.exitCode).toBeNull();
    },
    120_000,
  );

  it('does not wait for a backend that computes, or that is stopped, when the postmaster is killed', async () => {
    let url = '';
    // The connections of the previous test may still be failing.
    await eventually(async () => {
      const { body } = await install.plinth.admin.get(`/admin/v1/projects/${install.project.id}/database`);
      expect(body).toHaveProperty('owner_url');
      url = body.owner_url;
    });
    const owners = [new Client(url), new Client(url)];
    const computing = owners.map(async (owner) => {
      owner.on('error', () => undefined);
      await owner.connect();
      return owner.query('do $$ begin loop perform 1; end loop; end $$').then(
        () => 'finished',
        () => 'ended',
      );
    });
    await eventually(async () => {
      const rows = (await install.sql(
        `select pid from pg_stat_activity where query like 'do $$%' and state = 'active'`,
      )) as { pid: number }[];
      expect(rows).toHaveLength(2);
      process.kill(rows[0]?.pid ?? 0, 'SIGSTOP');
    });
    process.kill(install.postmaster, 'SIGKILL');
    await install.servesAgain();
    expect(await Promise.all(computing)).toEqual(['ended', 'ended']);
    for (const owner of owners) await owner.end().catch(() => undefined);
  }, 60_000);

  describe('and cannot be started', () => {
    it("answers 503 with Retry-After in each area's error body, and serves when it can be started again", async () => {
      // Failures within the last minute count, so this test uses an install without earlier kills.
      const other = await CrashingInstall.start();
      const restoreSettings = breakSettings(other);
      process.kill(other.postmaster, 'SIGKILL');
      const expected: Record<string, unknown> = {
        rest: {
          detail: { sqlstate: '08006', detail: null, hint: null, constraint: null, column: null },
          code: 'PGRST000',
        },
        auth: { detail: 'The database cannot be reached', status_code: 503 },
        storage: { data: null, error: { code: 'storage_unavailable', status: 503 } },
        admin: { error: { code: 'service_unavailable', status: 503 } },
      };
      for (const [area, ask] of Object.entries(other.areas)) {
        await eventually(async () => {
          const { status, headers, body } = await ask();
          expect({ area, status, retryAfter: headers.get('retry-after'), body }).toMatchObject({
            status: 503,
            retryAfter: '1',
            body: expected[area],
          });
        }, SERVES_AGAIN_MS);
      }
      const ready = await new HttpClient(other.plinth.baseUrl).get('/health/ready');
      expect(ready).toMatchObject({
        status: 503,
        body: { error: { checks: { platform_database: { status: 'down' } } } },
      });
      expect((await new HttpClient(other.plinth.baseUrl).get('/health/live')).status).toBe(200);
      restoreSettings();
      await other.servesAgain();
      await other.expectEverythingRecovered();
      await other.end();
    }, 120_000);

    (IN_SOAK ? it : it.skip)(
      'gives up after some time with one line and a nonzero exit code',
      async () => {
        const other = await CrashingInstall.start();
        breakSettings(other);
        process.kill(other.postmaster, 'SIGKILL');
        await eventually(async () => expect(other.plinth.child.exitCode).toBe(1), UNTIL_GIVEN_UP_MS);
        expect(other.plinth.printed).toMatch(
          /\nThe embedded PostgreSQL failed \d+ times within a minute, so Plinth ends\. .*postgresql\.auto\.conf.*\n$/,
        );
        expect(readdirSync(join(other.directory, 'data'))).not.toContain('instance.lock');
        await other.end();
      },
      180_000,
    );

    it('stops immediately on a signal during the outage', async () => {
      breakSettings(install);
      process.kill(install.postmaster, 'SIGKILL');
      await eventually(async () => expect((await install.areas.rest?.())?.status).toBe(503), SERVES_AGAIN_MS);
      expect(await install.plinth.end('SIGTERM')).toBe(0);
      expect(readdirSync(join(install.directory, 'data'))).not.toContain('instance.lock');
    }, 120_000);
  });
});
