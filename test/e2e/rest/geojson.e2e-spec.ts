/** `Accept: application/geo+json`, where the project has PostGIS (PostgREST's "GeoJSON"). */
import { accessOf, asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { hasPostgis } from '../../support/postgis';
import type { TestProject } from '../../support/test-project';

(hasPostgis ? describe : describe.skip)('GeoJSON', () => {
  let plinth: TestPlinth;
  let project: TestProject;

  beforeAll(async () => {
    plinth = await TestPlinth.start();
    project = await plinth.createProject();
    const { database } = await accessOf(plinth, project.id);
    await asSuperuser(database, (client) => client.query('create extension postgis schema extensions'));
    await project.sql(`
      create table harbours (id int primary key, name text, place extensions.geometry(point, 4326),
        basin extensions.geometry(polygon, 4326));
      create table berths (id int primary key, harbour_id int references harbours);
      create table boats (id int primary key);
      insert into harbours values (1, 'North', 'SRID=4326;POINT(10 54)', 'SRID=4326;POLYGON((0 0, 1 0, 1 1, 0 0))');
      insert into berths values (7, 1);
      insert into boats values (1);
      create function harbour(wanted int) returns setof harbours stable language sql as $$
        select * from harbours where id = wanted $$;
    `);
  });
  afterAll(() => plinth.stop());

  const headers = { accept: 'application/geo+json', prefer: 'tx=rollback' };
  const get = (path: string) => project.service.get(`/rest/v1/${path}`, { headers });
  const north = (properties: object) => ({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [10, 54] }, properties }],
  });

  it('returns each row as a feature with the selected geometry', async () => {
    const answer = await get('harbours?select=id,name,place');
    expect(answer.headers.get('content-type')).toBe('application/geo+json; charset=utf-8');
    expect(answer.body).toEqual(north({ id: 1, name: 'North' }));
    const basin = await get('harbours?select=id,basin');
    expect(basin.body.features[0].geometry.type).toBe('Polygon');
  });

  it('is an empty collection when no row matches', async () => {
    expect((await get('harbours?id=eq.9')).body).toEqual({ type: 'FeatureCollection', features: [] });
  });

  it('includes embedded rows in the properties', async () => {
    const { body } = await get('harbours?select=id,place,berths(id)');
    expect(body).toEqual(north({ id: 1, berths: [{ id: 7 }] }));
  });

  it('works for functions and for written rows', async () => {
    expect((await get('rpc/harbour?wanted=1&select=id,place')).body).toEqual(north({ id: 1 }));
    const changed = await project.service.patch(
      '/rest/v1/harbours?id=eq.1&select=name,place',
      { name: 'New' },
      { headers },
    );
    expect([changed.status, changed.body]).toEqual([200, north({ name: 'New' })]);
  });

  it('answers 400 for rows without a geometry', async () => {
    const answer = await get('boats');
    expect([answer.status, answer.body.code]).toEqual([400, '22023']);
  });

  it('returns a geometry as GeoJSON in plain JSON too', async () => {
    const { body } = await project.service.get('/rest/v1/harbours?select=place');
    expect(body[0].place).toMatchObject({ type: 'Point', coordinates: [10, 54] });
  });
});
