/** Cache-Control by bucket, on each kind of address. */
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
});
afterAll(() => plinth.stop());

const header = ({ headers }: HttpAnswer): string | null => headers.get('cache-control');

/** Cache-Control of the three URLs of a file in such a bucket. */
async function cacheControl(bucket: object): Promise<(string | null)[]> {
  const name = `box-${Math.random()}`;
  expect((await user.post(`${project.storage}/buckets`, { name, ...bucket })).status).toBe(201);
  const { body } = await upload(user, project.storage, name, 'x');
  const file = `${project.storage}/files/${body.data.id}`;
  const { url } = (await user.post(`${file}/signed-url`, { expiry: '5m' })).body.data;
  const signed = await plinth.http.get((url as string).replace('http://plinth.test', ''));
  const preview = await plinth.http.get(`${file}/preview`);
  return [
    header(await user.get(`${file}/download`)),
    header(signed),
    preview.status === 200 ? header(preview) : null,
  ];
}

it('by default every response is revalidated, and only previews may be cached by shared caches', async () => {
  expect(await cacheControl({ is_public: true })).toEqual([
    'private, no-cache',
    'private, no-cache',
    'public, no-cache',
  ]);
});

it("follows the bucket's setting; only previews of public buckets may be cached by shared caches", async () => {
  const value = 'Public, max-age=60';
  expect(await cacheControl({ is_public: true, cache_control: value })).toEqual([
    'private, max-age=60',
    'private, max-age=60',
    'public, max-age=60',
  ]);
  expect(await cacheControl({ cache_control: value })).toEqual([
    'private, max-age=60',
    'private, max-age=60',
    null,
  ]);
});

it("does not let a response of a signed URL be cached beyond the URL's expiry", async () => {
  const [, signed] = await cacheControl({ cache_control: 'max-age=86400' });
  const seconds = Number(/^private, max-age=(\d+)$/.exec(signed ?? '')?.[1]);
  expect(seconds).toBeGreaterThan(200);
  expect(seconds).toBeLessThanOrEqual(300);
});

it('is sent with partial and conditional responses, and changes immediately', async () => {
  await user.post(`${project.storage}/buckets`, { name: 'changing', cache_control: 'no-store' });
  const { body } = await upload(user, project.storage, 'changing', 'abc');
  const download = (headers: Record<string, string>): Promise<HttpAnswer> =>
    user.get(`${project.storage}/files/${body.data.id}/download`, { headers });
  expect(header(await download({ range: 'bytes=0-0' }))).toBe('private, no-store');
  expect(header(await download({ 'if-none-match': '*' }))).toBe('private, no-store');
  await user.patch(`${project.storage}/buckets/changing`, { cache_control: null });
  expect(header(await download({}))).toBe('private, no-cache');
});

it.each(['', 'publik', 'max-age=x', 'public, private', 'public\r\nX: y', 'x'.repeat(300), 5, ['public']])(
  'answers 400 for %j',
  async (value) => {
    const answer = await user.post(`${project.storage}/buckets`, { name: 'x', cache_control: value });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_parameters']);
  },
);
