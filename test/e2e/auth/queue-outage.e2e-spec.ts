/** The mail queue while its database fails: requests are still served, and the queue recovers. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';

it('keeps serving while every connection to the platform database is refused, and sends mails afterwards', async () => {
  const plinth = await TestPlinth.start();
  try {
    const project = await plinth.createProject();
    const user = await project.signUp();
    await allowConnections(plinth, false);
    await eventually(async () => {
      expect((await plinth.http.get('/health/live')).status).toBe(200);
      expect((await plinth.http.get('/health/ready')).status).toBe(503);
    });
    expect((await plinth.http.get('/health/live')).status).toBe(200);
    await allowConnections(plinth, true);
    await eventually(async () => {
      const body = { email: user.email };
      const answer = await project.client(project.anonKey, null).post(`${project.auth}/reset-password`, body);
      expect(answer.status).toBe(200);
    }, 20_000);
    await eventually(async () => {
      expect(readdirSync(join(plinth.dataDir, 'mail')).length).toBeGreaterThan(0);
    }, 20_000);
  } finally {
    await allowConnections(plinth, true);
    await plinth.stop();
  }
}, 60_000);

async function allowConnections(plinth: TestPlinth, allowed: boolean): Promise<void> {
  await asSuperuser('postgres', async (client) => {
    await client.query(`alter database ${plinth.platformDatabase} allow_connections ${allowed}`);
    if (allowed) return;
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      plinth.platformDatabase,
    ]);
  });
}
