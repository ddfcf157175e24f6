/** Projects over the admin API (DECISIONS.md 7). */
import { TestPlinth } from '../../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

describe('projects', () => {
  it('creates a project with two keys and a slug made from its name', async () => {
    const answer = await plinth.admin.post('/admin/v1/projects', { name: 'Acme GmbH & Co.' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ slug: 'acme-gmbh-co', name: 'Acme GmbH & Co.', plan: 'free' });
    expect(answer.body.anon_key).toMatch(/^ey/);
    expect(answer.body.service_role_key).toMatch(/^ey/);
  });

  it('answers 401 without the admin key', async () => {
    expect((await plinth.http.get('/admin/v1/projects')).status).toBe(401);
    expect((await plinth.http.with({ authorization: 'Bearer wrong' }).get('/admin/v1/projects')).status).toBe(
      401,
    );
  });

  it('enables row-level security on tables that the owner creates', async () => {
    const project = await plinth.createProject();
    await project.sql('create table notes (id int)');
    const tables = await plinth.admin.get(`/admin/v1/projects/${project.id}/tables`);
    expect(tables.body).toContainEqual(
      expect.objectContaining({ schema: 'public', name: 'notes', rls_enabled: true }),
    );
  });

  it('deletes a project with its database', async () => {
    const project = await plinth.createProject();
    expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
    expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).status).toBe(404);
  });
});
