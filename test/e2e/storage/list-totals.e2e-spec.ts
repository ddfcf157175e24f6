/** X-Total-Count is the number of files visible to the caller, under any policy. */
import { shareOf } from '../../support/extent';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const BUCKETS = ['mine', 'shared', 'open'];

let plinth: TestPlinth;
let project: TestProject;
let callers: Record<string, HttpClient>;

const filesOf = (bucket: string): string => `${project.storage}/buckets/${bucket}/files`;

beforeEach(async () => {
  project = await plinth.createProject({ plan: 'enterprise' });
  const [ada, bob] = [await project.signUp(), await project.signUp()];
  callers = { ada: ada.http, bob: bob.http, anon: project.anon, service: project.service };
  await ada.http.post(`${project.storage}/buckets`, { name: 'mine' });
  await ada.http.post(`${project.storage}/buckets`, { name: 'open', is_public: true });
  await project.service.post(`${project.storage}/buckets`, { name: 'shared' });
  await project.sql(`
    insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
    select b.id, coalesce(o.name, 'service') || '/' || n, 'text/plain', n, repeat('0', 64), o.id, gen_random_uuid()
    from (values ('mine', 'ada', 5), ('open', 'ada', 4), ('shared', 'ada', 3), ('shared', 'bob', 4), ('shared', null, 2))
        as wanted (bucket, owner, files)
      join storage.buckets b on b.slug = wanted.bucket
      left join (values ('ada', '${ada.id}'::uuid), ('bob', '${bob.id}')) as o (name, id) on o.name = wanted.owner
      cross join lateral generate_series(1, wanted.files) n`);
});
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

type Numbers = Record<string, (number | null)[]>;

/** The total of each bucket for each caller; null for a bucket hidden from the caller. */
async function numbers(query: string, of: (answer: HttpAnswer) => number): Promise<Numbers> {
  const one = async (caller: HttpClient, bucket: string): Promise<number | null> => {
    const answer = await caller.get(`${filesOf(bucket)}?${query}`);
    return answer.status === 404 ? null : of(answer);
  };
  const all = Object.entries(callers).map(async ([name, caller]) => [
    name,
    await Promise.all(BUCKETS.map((bucket) => one(caller, bucket))),
  ]);
  return Object.fromEntries(await Promise.all(all)) as Numbers;
}

const seen = (): Promise<Numbers> => numbers('limit=1000', ({ body }) => body.data.length);
const told = (query: string): Promise<Numbers> =>
  numbers(query, ({ headers }) => Number(headers.get('x-total-count')));

const QUERIES = ['limit=1', 'limit=0', 'limit=1&offset=1', 'limit=1&offset=50', 'limit=2&sortBy=size'];
const SHIPPED = `drop policy "anonymous callers can read files in public buckets" on storage.files;
  drop policy "users can read their files and files in their or public buckets" on storage.files;`;

it('as shipped', async () => {
  expect(await seen()).toEqual({
    ada: [5, 3, 4],
    bob: [null, 4, 4],
    anon: [null, null, 4],
    service: [5, 9, 4],
  });
});

const CHANGES: [string, string][] = [
  ['the shipped policies', ''],
  ['a deletion', `delete from storage.files where size = 2`],
  [
    'a move',
    `update storage.files set bucket_id = (select id from storage.buckets where slug = 'mine'), filename = 'moved ' || id
     where size = 4`,
  ],
  [
    'a bucket recreated under its id',
    `create table saved as select * from storage.buckets where slug = 'mine';
     delete from storage.buckets where slug = 'mine'; insert into storage.buckets select * from saved`,
  ],
  [
    'a policy that reads the name',
    `${SHIPPED} create policy p on storage.files for select using (filename like '%/1')`,
  ],
  [
    'a further policy that reads the size',
    `create policy p on storage.files for select to authenticated using (size = 1)`,
  ],
  ['a restrictive policy', `create policy p on storage.files as restrictive for select using (size > 1)`],
  [
    'a policy that reads the whole file',
    `create function odd(file storage.files) returns boolean stable language sql return file.size % 2 = 1;
     ${SHIPPED} create policy p on storage.files for select using (odd(files))`,
  ],
  [
    'a policy that reads another table by the id of the file',
    `create table shares as select id as file from storage.files where size = 1; grant select on shares to public;
     alter table shares disable row level security;
     ${SHIPPED} create policy p on storage.files for select using (exists (select from shares where file = files.id))`,
  ],
  ['a policy for all that a user does', `${SHIPPED} create policy p on storage.files using (size < 3)`],
  [
    'a policy that reads the bucket',
    `${SHIPPED} create policy p on storage.files for select using (
     bucket_id in (select id from storage.buckets where name <> 'open'))`,
  ],
  ['no policy at all', SHIPPED],
  ['no row-level security', 'alter table storage.files disable row level security'],
  ['row-level security for the owner too', 'alter table storage.files force row level security'],
];

it.each(CHANGES.map(([name, sql], turn) => [name, sql, turn] as const))(
  'with %s, totals count the visible files',
  async (_name, sql, turn) => {
    if (sql !== '') await project.sql(sql);
    const expected = await seen();
    for (const query of shareOf(QUERIES, turn, 3))
      expect([query, await told(query)]).toEqual([query, expected]);
  },
);

describe('a total requested by SQL', () => {
  /** The total that the database returns for the bucket to a caller that claims to see all files. */
  async function claimed(caller: string, slug: string, known: string): Promise<number | null> {
    const [row] = await project.sql(`select b.id as bucket, ${known} as known from storage.buckets b
      where b.slug = '${slug}'`);
    const answer = await (callers[caller] as HttpClient).post('/rest/v1/rpc/total', row);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body as number | null;
  }
  const UNKNOWN = 'gen_random_uuid()';
  const ONE = '(select object_id from storage.files f where f.bucket_id = b.id limit 1)';
  const ANOTHER = '(select object_id from storage.files f where f.bucket_id <> b.id limit 1)';

  it.each<[string, string, string, number | null]>([
    ['anon', 'mine', UNKNOWN, null],
    ['bob', 'mine', ANOTHER, null],
    ['bob', 'mine', 'null::uuid', null],
    ['ada', 'mine', UNKNOWN, null],
    ['ada', 'mine', ONE, 5],
    ['bob', 'shared', ONE, null],
    ['service', 'shared', ONE, 9],
  ])('%s sees of %s by %s: %s', async (caller, slug, known, expected) => {
    await project.sql(`create function public.total(bucket uuid, known uuid) returns bigint language sql stable
      as 'select storage.total_if_alike(bucket, known, true)'`);
    expect(await claimed(caller, slug, known)).toBe(expected);
  });

  it('no other function of storage reveals a total', async () => {
    const answers = await project.sql(`select p.oid::regprocedure::text as name from pg_proc p
      where p.pronamespace = 'storage'::regnamespace and p.prosecdef and p.proname like '%total%'
        and has_function_privilege('anon', p.oid, 'execute')`);
    expect(answers).toEqual([{ name: 'storage.total_if_alike(uuid,uuid,boolean)' }]);
  });
});
