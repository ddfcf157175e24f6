/** Lists of files: search, order, pages, folders (SPEC.md 4.1 and 8). */
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const NAMES = [
  'banana.txt',
  'Apple.txt',
  'cherry_1.txt',
  '100%.txt',
  'a\\b.txt',
  'dir/one.txt',
  'dir/sub/two.txt',
  'dir2/three.txt',
  'Ünï.txt',
];

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let files: string;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  files = `${project.storage}/buckets/box/files`;
  await user.post(`${project.storage}/buckets`, { name: 'box' });
  for (const [index, name] of NAMES.entries()) {
    const answer = await upload(user, project.storage, 'box', 'x'.repeat(100 - index), {
      after: { filename: name },
    });
    expect(answer.status).toBe(201);
  }
});
afterAll(() => plinth.stop());

async function names(query: string): Promise<string[]> {
  const answer = await user.get(`${files}?${query}`);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.data.map(({ filename }: { filename: string }) => filename);
}
const byCodePoint = [...NAMES].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

describe('GET /buckets/<bucket_name>/files', () => {
  it('answers file records in the envelope, with the total in X-Total-Count', async () => {
    const { status, body, headers } = await user.get(files);
    expect(status).toBe(200);
    expect(body.error).toBeNull();
    expect(body.data).toHaveLength(NAMES.length);
    expect(body.data[0]).toMatchObject({
      bucket_slug: 'box',
      filename: expect.any(String),
      size: expect.any(Number),
    });
    expect(headers.get('x-total-count')).toBe(String(NAMES.length));
  });

  it('sorts by filename, size and created_at, in both directions', async () => {
    expect(await names('sortBy=filename&sortDir=asc')).toEqual(byCodePoint);
    expect(await names('sortBy=filename&sortDir=desc')).toEqual([...byCodePoint].reverse());
    expect(await names('sortBy=size&sortDir=desc')).toEqual(NAMES);
    expect(await names('sortBy=size&sortDir=asc')).toEqual([...NAMES].reverse());
    expect(await names('sortBy=created_at&sortDir=asc')).toEqual(NAMES);
    expect(await names('sortBy=created_at&sortDir=desc')).toEqual([...NAMES].reverse());
  });

  it('sorts ascending by default, and newest first without a sort parameter', async () => {
    expect(await names('sortBy=filename')).toEqual(byCodePoint);
    expect(await names('')).toEqual([...NAMES].reverse());
    expect(await names('sortDir=asc')).toEqual(NAMES);
  });

  it('pages with limit and offset, with the same total', async () => {
    expect(await names('sortBy=filename&limit=2')).toEqual(byCodePoint.slice(0, 2));
    expect(await names('sortBy=filename&limit=2&offset=3')).toEqual(byCodePoint.slice(3, 5));
    expect(await names('sortBy=filename&offset=100')).toEqual([]);
    expect(await names('limit=0')).toEqual([]);
    expect((await user.get(`${files}?limit=2&offset=3`)).headers.get('x-total-count')).toBe(
      String(NAMES.length),
    );
  });

  it('returns 50 files per page by default', async () => {
    await user.post(`${project.storage}/buckets`, { name: 'many' });
    await project.sql(`insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
      select (select id from storage.buckets where slug = 'many'), 'f' || n, 'text/plain', n, repeat('0', 64), '${user.userId}',
        gen_random_uuid() from generate_series(1, 120) n`);
    const { body, headers } = await user.get(`${project.storage}/buckets/many/files`);
    expect(body.data).toHaveLength(50);
    expect(headers.get('x-total-count')).toBe('120');
  });

  it.each([
    ['anana', ['banana.txt']],
    ['APPLE', ['Apple.txt']],
    ['ünï', ['Ünï.txt']],
    ['%', ['100%.txt']],
    ['_', ['cherry_1.txt']],
    ['\\', ['a\\b.txt']],
    ['.*', []],
    ["'", []],
    ['sub/', ['dir/sub/two.txt']],
  ])('finds %j in the filename as plain text', async (search, found) => {
    expect(await names(`sortBy=filename&search=${encodeURIComponent(search)}`)).toEqual(found);
    const total = (await user.get(`${files}?search=${encodeURIComponent(search)}`)).headers.get(
      'x-total-count',
    );
    expect(total).toBe(String(found.length));
  });

  it.each([
    'sortBy=name',
    'sortBy=',
    'sortBy=created_at;drop',
    'sortDir=up',
    'sortDir=ASC',
    'limit=-1',
    'limit=1.5',
    'limit=abc',
    'limit=',
    'limit=1e3',
    'limit=0x10',
    'limit=1001',
    'limit=1&limit=2',
    'offset=-1',
    'offset=x',
    'offset=99999999999999999999',
    'cursor=nonsense',
    'delimiter=x',
    'search=a&search=b',
  ])('answers 400 invalid_parameters for %s', async (query) => {
    expect(await user.get(`${files}?${query}`)).toMatchObject({
      status: 400,
      body: { data: null, error: { message: expect.any(String), code: 'invalid_parameters', status: 400 } },
    });
  });

  it('answers 404 bucket_not_found for an unknown or hidden bucket', async () => {
    expect((await user.get(`${project.storage}/buckets/nowhere/files`)).body.error.code).toBe(
      'bucket_not_found',
    );
    expect((await project.asSubject().get(files)).body.error.code).toBe('bucket_not_found');
  });

  it('shows each caller only the files that the policies allow', async () => {
    const [ada, bob] = [project.asSubject(), project.asSubject()];
    await project.service.post(`${project.storage}/buckets`, { name: 'shared' });
    await upload(ada, project.storage, 'shared', 'a', { name: 'of ada' });
    await upload(bob, project.storage, 'shared', 'b', { name: 'of bob' });
    const listed = await ada.get(`${project.storage}/buckets/shared/files`);
    expect(listed.body.data.map((file: { filename: string }) => file.filename)).toEqual(['of ada']);
    expect(listed.headers.get('x-total-count')).toBe('1');
    expect((await project.service.get(`${project.storage}/buckets/shared/files`)).body.data).toHaveLength(2);
  });
});

describe('cursors', () => {
  it.each([
    'sortBy=filename',
    'sortBy=filename&sortDir=desc',
    'sortBy=size&sortDir=desc',
    '',
    'sortBy=created_at',
  ])('reach every file once, in order (%s)', async (order) => {
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 20; page += 1) {
      const { body, headers } = await user.get(`${files}?limit=2&${order}${cursor}`);
      seen.push(...body.data.map(({ filename }: { filename: string }) => filename));
      const next = headers.get('x-next-cursor');
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(seen).toEqual(await names(order));
  });

  it('are stable while files are added and deleted', async () => {
    await user.post(`${project.storage}/buckets`, { name: 'moving' });
    const path = `${project.storage}/buckets/moving/files`;
    for (const name of ['b', 'd', 'f']) await upload(user, project.storage, 'moving', 'x', { name });
    const first = await user.get(`${path}?sortBy=filename&limit=2`);
    await upload(user, project.storage, 'moving', 'x', { name: 'a' });
    const second = await user.get(`${path}?limit=2&cursor=${first.headers.get('x-next-cursor')}`);
    expect(second.body.data.map(({ filename }: { filename: string }) => filename)).toEqual(['f']);
    expect(second.headers.get('x-total-count')).toBeNull();
  });
});

describe('folders', () => {
  it('are listed by prefix and delimiter: direct files, with folders at their own endpoint', async () => {
    expect(await names('prefix=dir/&sortBy=filename')).toEqual(['dir/one.txt', 'dir/sub/two.txt']);
    expect(await names('prefix=dir/&delimiter=/')).toEqual(['dir/one.txt']);
    expect(await names('delimiter=/&sortBy=filename')).toEqual(
      byCodePoint.filter((name) => !name.includes('/')),
    );
    const folders = async (query: string): Promise<string[]> =>
      (await user.get(`${project.storage}/buckets/box/folders?${query}`)).body.data;
    expect(await folders('')).toEqual(['dir/', 'dir2/']);
    expect(await folders('prefix=dir/')).toEqual(['dir/sub/']);
    expect(await folders('limit=1')).toEqual(['dir/']);
    expect(await folders('limit=1&after=dir/')).toEqual(['dir2/']);
    expect(await folders('prefix=dir/sub/')).toEqual([]);
    expect((await user.get(`${project.storage}/buckets/nowhere/folders`)).status).toBe(404);
    expect((await user.get(`${project.storage}/buckets/box/folders?after=dir`)).status).toBe(400);
  });

  it('treat a prefix as plain text', async () => {
    expect(await names('prefix=%25')).toEqual([]);
    expect(await names('prefix=100%25')).toEqual(['100%.txt']);
  });

  it('include names that continue with the last Unicode code point', async () => {
    await user.post(`${project.storage}/buckets`, { name: 'last' });
    const path = `${project.storage}/buckets/last`;
    const name = 'a/\u{10ffff}\u{10ffff}/b';
    await upload(user, project.storage, 'last', 'x', { name });
    expect((await user.get(`${path}/files?prefix=a/`)).body.data).toMatchObject([{ filename: name }]);
    expect((await user.get(`${path}/folders?prefix=a/`)).body.data).toEqual(['a/\u{10ffff}\u{10ffff}/']);
  });
});
