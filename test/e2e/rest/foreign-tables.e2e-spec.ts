/**
 * Foreign tables are closed until they are granted, because row-level security cannot protect them, and then work like
 * other tables.
 */
import { accessOf, asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  const { host, port, database, owner_role, owner_password } = await accessOf(plinth, project.id);
  // The foreign server is the same server, which makes no difference to postgres_fdw.
  await asSuperuser(database, async (client) => {
    await client.query('create extension postgres_fdw');
    const options = `host '${host}', port '${port}', dbname '${database}'`;
    await client.query(`create server elsewhere foreign data wrapper postgres_fdw options (${options})`);
    await client.query(`grant usage on foreign server elsewhere to "${owner_role}"`);
    const mapping = `user '${owner_role}', password '${owner_password}'`;
    await client.query(`create user mapping for public server elsewhere options (${mapping})`);
  });
  await project.sql(`
    create schema warehouse;
    create table warehouse.parts (id int primary key, name text not null, weight numeric);
    insert into warehouse.parts values (1, 'bolt', 0.5), (2, 'nut', 0.25), (3, 'beam', 120);
    create foreign table parts (id int, name text not null, weight numeric)
      server elsewhere options (schema_name 'warehouse', table_name 'parts');
    create table orders (id int primary key, part_id int not null);
    insert into orders values (10, 3), (11, 1);
    create policy everybody on orders for select to anon using (true);
    create function part(orders) returns setof parts rows 1 stable language sql as 'select * from parts where id = $1.part_id';
  `);
});
afterAll(() => plinth.stop());

describe('a foreign table', () => {
  it('is not accessible to anon and users until it is granted', async () => {
    for (const client of [project.anon, project.asSubject()]) {
      const answer = await client.get('/rest/v1/parts');
      expect([answer.status, answer.body.detail.sqlstate]).toEqual([
        client === project.anon ? 401 : 403,
        '42501',
      ]);
    }
    expect((await project.service.get('/rest/v1/parts?select=id&order=id')).body).toEqual([
      { id: 1 },
      { id: 2 },
      { id: 3 },
    ]);
  });

  describe('that is granted', () => {
    beforeAll(() => project.sql('grant select, insert, update, delete on parts to anon'));

    it('is filtered, ordered, paged and counted', async () => {
      const answer = await project.anon.get('/rest/v1/parts?weight=lt.1&order=weight.asc&limit=1', {
        headers: { prefer: 'count=exact' },
      });
      expect(answer.body).toEqual([{ id: 2, name: 'nut', weight: 0.25 }]);
      expect(answer.headers.get('content-range')).toBe('0-0/2');
    });

    it('is embedded by a computed relationship, since it has no foreign keys', async () => {
      const answer = await project.anon.get('/rest/v1/orders?select=id,part(name)&order=id');
      expect(answer.body).toEqual([
        { id: 10, part: { name: 'beam' } },
        { id: 11, part: { name: 'bolt' } },
      ]);
    });

    it('is written, with rows returned', async () => {
      const prefer = { headers: { prefer: 'return=representation' } };
      const made = await project.anon.post('/rest/v1/parts', { id: 4, name: 'washer' }, prefer);
      expect([made.status, made.body]).toEqual([201, [{ id: 4, name: 'washer', weight: null }]]);
      const changed = await project.anon.patch('/rest/v1/parts?id=eq.4', { weight: 0.125 });
      expect(changed.body).toEqual([{ id: 4, name: 'washer', weight: 0.125 }]);
      expect((await project.anon.delete('/rest/v1/parts?id=eq.4')).body).toHaveLength(1);
      expect((await project.anon.get('/rest/v1/parts?id=eq.4')).body).toEqual([]);
    });

    it('passes on errors of the foreign server', async () => {
      const answer = await project.anon.post('/rest/v1/parts', { id: 1, name: 'twice' });
      expect([answer.status, answer.body.detail.sqlstate]).toEqual([409, '23505']);
    });
  });
});
