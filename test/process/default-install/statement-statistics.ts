/** pg_stat_statements in the embedded PostgreSQL is for administrators, contains no secrets, and is closed to owners. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { withConnection } from '../../../src/database/pools/one-off-connection';
import { HttpClient } from '../../support/http-client';
import { directory, plinth } from './install';

let project: { id: string; service_role_key: string };
let access: { host: string; port: number; owner_url: string; owner_password: string; database: string };

export function statementStatistics(): void {
  beforeAll(async () => {
    project = (await plinth.admin.post('/admin/v1/projects', { name: 'Statements' })).body;
    access = (await plinth.admin.get(`/admin/v1/projects/${project.id}/database`)).body;
  }, 60_000);

  function asSuperuser<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const password = readFileSync(join(directory, 'data/postgres.password'), 'utf8').trim();
    const { host, port } = access;
    return withConnection({ host, port, user: 'postgres', password, database: 'plinth' }, work);
  }

  it('shows the superuser the statements of every project, without their values', async () => {
    const service = new HttpClient(plinth.baseUrl, {
      apikey: project.service_role_key,
      authorization: `Bearer ${project.service_role_key}`,
    });
    const query = 'create table gauged (n int, t text)';
    expect((await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query })).status).toBe(200);
    expect((await service.post('/rest/v1/gauged', { n: 1, t: 'a value' })).status).toBe(201);
    expect((await service.get('/rest/v1/gauged?t=eq.a%20value')).body).toEqual([{ n: 1, t: 'a value' }]);
    const { rows } = await asSuperuser((client) =>
      client.query<{ query: string; calls: string }>(
        `select s.query, s.calls from pg_stat_statements s join pg_database d on d.oid = s.dbid
       where d.datname = $1 and s.query like '%gauged%'`,
        [access.database],
      ),
    );
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect(rows.filter((row) => row.query.includes('a value'))).toEqual([]);
  });

  it('holds no password of a role, old or new', async () => {
    const query = `create role helper login password 'a password of the owner''s'`;
    expect((await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query })).status).toBe(200);
    const { rows } = await asSuperuser((client) =>
      client.query('select query from pg_stat_statements where query ilike $1 or query ilike $2', [
        `%${access.owner_password}%`,
        '%a password of the%',
      ]),
    );
    expect(rows).toEqual([]);
  });

  it("is closed to a project's owner, who cannot change that", async () => {
    await withConnection({ connectionString: access.owner_url }, async (owner) => {
      await expect(owner.query('select * from pg_stat_statements')).rejects.toMatchObject({ code: '42P01' });
      await expect(owner.query('create extension pg_stat_statements')).rejects.toMatchObject({
        code: '42501',
      });
      await expect(
        owner.query(`create function stolen(bool) returns setof record language c as 'pg_stat_statements'`),
      ).rejects.toMatchObject({ code: '42501' });
    });
    const platform = new URL(access.owner_url);
    platform.pathname = '/plinth';
    await expect(
      withConnection({ connectionString: platform.href }, (client) => client.query('select 1')),
    ).rejects.toMatchObject({ code: '42501' });
  });
}
