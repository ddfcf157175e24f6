/** PostgreSQL's planning work for storage's most frequent requests, by its own count of plans. */
import { RlsTransaction } from '../../src/database/rls/rls-transaction';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { HttpClient } from '../support/http-client';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';
import { upload } from '../support/uploads';

/** More executions than PostgreSQL plans before it can use a generic plan (manual, PREPARE). */
const REQUESTS = 12;
const FILES = 3_000;

let plinth: TestPlinth;
let project: TestProject;
let user: HttpClient;
let file: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = (await project.signUp()).http;
  await user.post(`${project.storage}/buckets`, { name: 'box' });
  const { body } = await upload(user, project.storage, 'box', 'text', { name: 'one.txt' });
  file = `${project.storage}/files/${body.data.id}`;
  await project.sql(`
    insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
    select b.id, 'file ' || n, 'text/plain', n, repeat('0', 64), b.owner_id, gen_random_uuid()
    from storage.buckets b, generate_series(1, ${FILES}) n;
    analyze storage.files`);
});
afterAll(() => plinth.stop());

/** Number of custom plans for statements of that name, on the most recently used connection. */
async function customPlans(name: string): Promise<number> {
  const registered = await plinth.app.get(ProjectRegistry).findById(project.id);
  if (!registered) throw new Error('no such project');
  const { rows } = await plinth.app.get(RlsTransaction).systemQuery(registered.database, 'a test', {
    text: `select sum(custom_plans)::int as plans, sum(generic_plans)::int as runs
      from pg_prepared_statements where name like $1`,
    values: [`%:${name}%`],
  });
  const [counted] = rows as { plans: number; runs: number }[];
  expect(counted?.runs).toBeGreaterThan(0);
  return counted?.plans ?? NaN;
}

it('signing uses a generic plan after a few requests', async () => {
  for (let n = 0; n < REQUESTS; n += 1)
    expect((await user.post(`${file}/signed-url`, { expiry: '5m' })).status).toBe(200);
  expect(await customPlans('storage:find-revision')).toBe(5);
});

it.each(['', 'sortBy=size', 'sortBy=filename&sortDir=desc'])(
  'the pages of a list (%s) use one generic plan',
  async (sort) => {
    const list = `${project.storage}/buckets/box/files?limit=10&${sort}`;
    let cursor = '';
    for (let n = 0; n < REQUESTS; n += 1) {
      const { status, headers } = await user.get(list + cursor);
      expect(status).toBe(200);
      cursor = `&cursor=${headers.get('x-next-cursor')}`;
    }
    expect(await customPlans('storage:list')).toBe(0);
  },
);

it("the total of one owner's files is looked up instead of counted", async () => {
  const total = async (): Promise<number> => {
    const { headers } = await user.get(`${project.storage}/buckets/box/files?limit=1`);
    return Number(headers.get('x-total-count'));
  };
  expect(await total()).toBe(FILES + 1);
  await project.sql('update storage.usage set files = files + 1000');
  expect(await total()).toBeGreaterThan(FILES + 1);
});

/** A policy that allows everything and counts the files for which policies are evaluated. */
const COUNTED = `
  create sequence looks; grant usage on looks to authenticated;
  create function look(owner uuid) returns boolean volatile language sql as $$ select nextval('looks') > 0 and owner is not null $$;
  create policy counted on storage.files as restrictive for select to authenticated using (look(owner_id))`;

async function looksDuring(work: () => Promise<unknown>): Promise<number> {
  await project.sql(`alter sequence looks restart`);
  await work();
  const [{ looks }] = await project.sql(
    'select case when is_called then last_value else 0 end::int as looks from looks',
  );
  return looks;
}

describe('rows examined by policies', () => {
  beforeAll(() => project.sql(COUNTED));

  it.each(['sortBy=created_at&sortDir=desc', 'sortBy=size', 'sortBy=filename&sortDir=desc'])(
    'a page by cursor (%s) reads its own files only, at any position',
    async (sort) => {
      const list = `${project.storage}/buckets/box/files?${sort}`;
      for (const offset of [10, FILES / 2, FILES - 60]) {
        const { headers } = await user.get(`${list}&limit=1&offset=${offset}`);
        const page = `${list}&limit=50&cursor=${headers.get('x-next-cursor')}`;
        const looks = await looksDuring(async () =>
          expect((await user.get(page)).body.data).toHaveLength(50),
        );
        expect(looks).toBeGreaterThanOrEqual(50);
        expect(looks).toBeLessThan(100);
      }
    },
  );

  it('folders are found without reading all files in them', async () => {
    const folders = 40;
    await user.post(`${project.storage}/buckets`, { name: 'tree' });
    await project.sql(`
    insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
    select b.id, 'folder ' || lpad((n % ${folders})::text, 3, '0') || '/' || n, 'text/plain', n, repeat('0', 64), b.owner_id,
      gen_random_uuid()
    from storage.buckets b, generate_series(1, ${folders * 50}) n where b.slug = 'tree';
    analyze storage.files`);
    const looks = await looksDuring(async () => {
      const { body } = await user.get(`${project.storage}/buckets/tree/folders?limit=1000`);
      expect(body.data).toHaveLength(folders);
    });
    expect(looks).toBeLessThan(3 * folders);
  });
});
