/**
 * Alerts about servers fire when their fault is caused, and only then. Needs promtool (package `prometheus`, or
 * PROMTOOL), PostgreSQL and Redis.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectFired, firedBy, hasPromtool } from '../support/alert-rules';
import { eventually } from '../support/eventually';
import { TestPlinth } from '../support/plinth';
import { hasPostgres, PostgresServer } from '../support/postgres-server';

const LIMIT_MS = 60_000;

jest.setTimeout(180_000);

(hasPromtool && hasPostgres ? describe : describe.skip)('alerts', () => {
  let directory: string;
  let primary: PostgresServer;
  let replica: PostgresServer;
  let second: PostgresServer;
  let plinth: TestPlinth;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-alerts-'));
    chmodSync(directory, 0o755);
    primary = await PostgresServer.primary(directory);
    replica = await primary.addStandby(directory, 'replica');
    const other = mkdtempSync(join(directory, 'other-'));
    chmodSync(other, 0o755);
    second = await PostgresServer.primary(other);
    plinth = await TestPlinth.start({
      databaseUrl: primary.url,
    });
    expect((await plinth.admin.post('/admin/v1/servers', { name: 'db2', url: second.url })).status).toBe(201);
    await plinth.admin.patch('/admin/v1/servers/db2', { status: 'draining' });
    await plinth.admin.patch('/admin/v1/servers/platform', { replicas: [replica.address] });
  }, 600_000);
  afterAll(async () => {
    await plinth.stop();
    await Promise.all([primary, replica, second].map((server) => server.stop().catch(() => undefined)));
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  const scrape = async (): Promise<string> => (await plinth.admin.get('/metrics')).text;
  async function healthy(): Promise<string> {
    let text = '';
    await eventually(async () => {
      text = await scrape();
      expect(text).toMatch(/^plinth_replica_up\{.*\} 1$/m);
      expect(text).toMatch(/^plinth_server_up\{server="db2"\} 1$/m);
      expect(Number(/^plinth_replica_lag_bytes\{.*\} (\S+)$/m.exec(text)?.[1])).toBeLessThan(1e6);
    }, LIMIT_MS);
    return text;
  }

  it('no alert fires without a fault', async () => {
    expect(firedBy(await healthy(), await healthy())).toEqual([]);
  });

  it('PlinthReplicaLate: a replica does not replay', async () => {
    const before = await healthy();
    await replica.query('select pg_wal_replay_pause()');
    for (let n = 0; n < 8; n += 1)
      await primary.query(`select pg_logical_emit_message(false, 'filler', repeat('x', 10000000))`);
    await expectFired(before, 'PlinthReplicaLate', scrape);
    await replica.query('select pg_wal_replay_resume()');
  });

  it('PlinthMigrationsFail: a project cannot be migrated', async () => {
    const project = await plinth.createProject();
    const before = await healthy();
    const [platform] = await primary.query<{ name: string }>(
      `select datname as name from pg_database where datname like 'plinth\\_test\\_%'`,
    );
    // The objects that the last migration creates already exist, so it fails.
    await primary.query(
      'delete from extensions.plinth_migrations where id = (select max(id) from extensions.plinth_migrations)',
      `plinth_${project.id}`,
    );
    await primary.query(
      `update projects set schema_version = '1_earlier' where id = '${project.id}'`,
      platform?.name,
    );
    await expectFired(before, 'PlinthMigrationsFail', scrape);
    await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
  });

  it('PlinthServerDown: a server ends', async () => {
    const before = await healthy();
    await second.kill();
    await expectFired(before, 'PlinthServerDown', scrape);
    await second.start();
  });

  it('PlinthReplicaDown: a replica ends', async () => {
    const before = await healthy();
    await replica.stop();
    await expectFired(before, 'PlinthReplicaDown', scrape);
    await replica.start();
  });

  it('PlinthDatabaseRestarted: PostgreSQL ends and is started again', async () => {
    const before = await healthy();
    await primary.kill();
    await primary.start();
    await expectFired(before, 'PlinthDatabaseRestarted', scrape);
  });
});
