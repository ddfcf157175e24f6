/** The Prefer header (PostgREST reference, "Prefer"), and single objects, which refuse a write that touches several rows. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table seats (id int primary key, label text, row_no int default 7);
    insert into seats values (1, 'a', 1), (2, 'b', 1), (3, 'c', 2), (4, 'd', 2);
    create function is_front(seats) returns boolean immutable language sql as $$ select $1.row_no = 1 $$;
    create table notes (body text);
    create table legs (zone int, day int, km int, primary key (zone, day));
    create view legs_view as select km, zone, day from legs;
    create function free_seats(above int) returns setof seats language sql as $$ delete from seats where id > above returning * $$;
    create function seat_count() returns bigint language sql as $$ select count(*) from seats $$;
  `);
});
afterAll(() => plinth.stop());

const OBJECT = { accept: 'application/vnd.pgrst.object+json' };
const seats = async (): Promise<unknown> => project.sql('select id, label from seats order by id');

describe('Preference-Applied', () => {
  const APPLIED: [method: string, path: string, body: object | undefined, prefer: string, applied: string][] =
    [
      [
        'POST',
        'seats?columns=id,label,row_no',
        { id: 1, label: 'a' },
        'tx=rollback, count=exact, return=representation, missing=default, resolution=merge-duplicates',
        'resolution=merge-duplicates, missing=default, return=representation, count=exact, tx=rollback',
      ],
      [
        'PATCH',
        'seats?id=eq.1',
        { label: 'a' },
        'timezone=UTC, max-affected=2, handling=strict, return=minimal',
        'return=minimal, handling=strict, timezone=UTC, max-affected=2',
      ],
      ['DELETE', 'seats?id=eq.99', undefined, 'max-affected=2, handling=lenient', 'handling=lenient'],
      ['DELETE', 'seats?id=eq.99', undefined, 'max-affected=2', ''],
      ['POST', 'notes', { body: 'x' }, 'resolution=merge-duplicates, return=minimal', 'return=minimal'],
    ];
  it.each(APPLIED)('%s %s %j with %s answers %s', async (method, path, body, prefer, applied) => {
    const answer = await project.service.send(method, `/rest/v1/${path}`, { body, headers: { prefer } });
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers.get('preference-applied') ?? '').toBe(applied);
  });
});

describe('a single object', () => {
  const WRITES: [method: string, path: string, body: unknown, rows: number, status: number][] = [
    ['PATCH', 'seats?id=gt.2', { label: 'x' }, 2, 406],
    ['DELETE', 'seats?id=gt.2', undefined, 2, 406],
    ['POST', 'seats', [{ id: 8 }, { id: 9 }], 2, 406],
    ['PATCH', 'seats?id=eq.99', { label: 'x' }, 0, 404],
    ['DELETE', 'seats?id=eq.99', undefined, 0, 404],
    ['POST', 'seats', [], 0, 404],
  ];
  for (const prefer of ['return=minimal', 'return=headers-only', 'return=representation']) {
    it.each(WRITES)(`${prefer}: %s %s %j, of %i rows, answers %i and changes nothing`, async (...write) => {
      const [method, path, body, rows, status] = write;
      const before = await seats();
      const answer = await project.service.send(method, `/rest/v1/${path}`, {
        body,
        headers: { ...OBJECT, prefer },
      });
      expect([answer.status, answer.body.code, answer.body.details]).toEqual([
        status,
        'PGRST116',
        `The result contains ${rows} rows`,
      ]);
      expect(await seats()).toEqual(before);
    });
  }

  it('is refused for several rows with HEAD as with GET', async () => {
    const answer = await project.service.send('HEAD', '/rest/v1/seats?id=gt.2', { headers: OBJECT });
    expect(answer.status).toBe(406);
    expect(answer.headers.get('proxy-status')).toBe('Plinth; error=PGRST116');
  });
});

describe('max-affected under handling=strict', () => {
  const strict = { prefer: 'handling=strict, max-affected=1' };

  it.each<[method: string, path: string, body: unknown]>([
    ['PATCH', 'seats?id=gt.2', { label: 'x' }],
    ['POST', 'rpc/free_seats', { above: 2 }],
  ])('refuses more rows of %s %s and changes nothing', async (method, path, body) => {
    const before = await seats();
    const answer = await project.service.send(method, `/rest/v1/${path}`, { body, headers: strict });
    expect([answer.status, answer.body.code, answer.body.details]).toEqual([
      400,
      'PGRST124',
      'The query affects 2 rows',
    ]);
    expect(await seats()).toEqual(before);
  });

  it('accepts exactly as many rows', async () => {
    const answer = await project.service.patch('/rest/v1/seats?id=eq.4', { label: 'd' }, { headers: strict });
    expect([answer.status, answer.body.length]).toEqual([200, 1]);
  });

  it('is refused for a function that does not return a set', async () => {
    const answer = await project.service.post('/rest/v1/rpc/seat_count', {}, { headers: strict });
    expect([answer.status, answer.body.code]).toEqual([400, 'PGRST128']);
  });
});

describe('tx=rollback', () => {
  it.each<[method: string, path: string, body: unknown, rows: number]>([
    ['PATCH', 'seats?id=gt.2', { label: 'dry' }, 2],
    ['DELETE', 'seats?id=gt.2', undefined, 2],
    ['PUT', 'seats?id=eq.1', { id: 1, label: 'dry', row_no: 1 }, 1],
    ['POST', 'rpc/free_seats', { above: 1 }, 3],
  ])('answers %s %s as if committed, and rolls it back', async (method, path, body, rows) => {
    const before = await seats();
    const answer = await project.service.send(method, `/rest/v1/${path}`, {
      body,
      headers: { prefer: 'tx=rollback' },
    });
    expect([answer.status, answer.body.length]).toEqual([200, rows]);
    expect(answer.headers.get('preference-applied')).toBe('tx=rollback');
    expect(await seats()).toEqual(before);
  });
});

describe('count', () => {
  it('is the number of written rows', async () => {
    const rows = [{ body: 'a' }, { body: 'b' }];
    const headers = { prefer: 'return=minimal, count=exact' };
    const made = await project.service.post('/rest/v1/notes', rows, { headers });
    expect([made.status, made.headers.get('content-range')]).toEqual([201, '*/2']);
    const gone = await project.service.delete('/rest/v1/notes?body=in.(a,b)', { headers });
    expect([gone.status, gone.headers.get('content-range')]).toEqual([204, '*/2']);
  });
});

describe('upserts and PUT', () => {
  it('answer 200 for an empty merge', async () => {
    const answer = await project.service.post('/rest/v1/seats', [], {
      headers: { prefer: 'resolution=merge-duplicates' },
    });
    expect([answer.status, answer.body]).toEqual([200, []]);
  });

  it('answer 405 with PL105 for a table without a primary key', async () => {
    const answer = await project.service.put('/rest/v1/notes?body=eq.x', { body: 'x' });
    expect([answer.status, answer.body.code]).toEqual([405, 'PGRST105']);
    expect(answer.headers.get('allow')).toBe('OPTIONS, GET, HEAD, POST, PATCH, DELETE');
  });
});

it('Location lists the columns of a key alphabetically', async () => {
  const answer = await project.service.post(
    '/rest/v1/legs_view',
    { zone: 4, day: 2, km: 9 },
    { headers: { prefer: 'return=headers-only' } },
  );
  expect([answer.status, answer.headers.get('location')]).toEqual([201, '/legs_view?day=eq.2&zone=eq.4']);
});

it('an update without columns returns no rows, with or without computed fields', async () => {
  const answer = await project.service.patch('/rest/v1/seats?id=gt.0&select=id,is_front', {});
  expect([answer.status, answer.body]).toEqual([200, []]);
});
