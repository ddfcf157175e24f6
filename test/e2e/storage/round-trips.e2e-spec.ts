/**
 * Round trips to the database as Plinth counts them (GET /metrics): one for a read, two for an upload, a move or a new
 * type, and one for consecutive uploads up to 1 MiB.
 */
import { randomBytes } from 'node:crypto';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

/** Requests counted together, so that the few round trips of background jobs do not matter. */
const REQUESTS = 40;

let plinth: TestPlinth;
let project: TestProject;
let user: HttpClient;
let file: string;
let signed: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = (await project.signUp()).http;
  await user.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
  const { body } = await upload(user, project.storage, 'box', randomBytes(300_000), { name: 'one.bin' });
  await upload(user, project.storage, 'box', 'kept', { name: 'kept.bin' });
  file = `${project.storage}/files/${body.data.id}`;
  const { url } = (await user.post(`${file}/signed-url`, { expiry: '1h' })).body.data;
  signed = url.replace('http://plinth.test', '');
});
afterAll(() => plinth.stop());

async function roundTrips(): Promise<number> {
  const { text } = await plinth.admin.get('/metrics');
  return Number(/^plinth_database_round_trips_total (\d+)$/m.exec(text)?.[1]);
}

/** Round trips per request; rounded, because of background jobs. */
async function costOf(request: (n: number) => Promise<HttpAnswer>, status: number): Promise<number> {
  const before = await roundTrips();
  for (let n = 0; n < REQUESTS; n += 1) expect((await request(n)).status).toBe(status);
  return Math.round(((await roundTrips()) - before) / REQUESTS);
}

it.each<[string, () => Promise<HttpAnswer>, number]>([
  ['a download', () => user.get(`${file}/download`), 200],
  ['a part of a download', () => user.get(`${file}/download`, { headers: { range: 'bytes=5-9' } }), 206],
  ['a signed URL', () => plinth.http.get(signed), 200],
  ['a preview', () => plinth.http.get(`${file}/preview`), 200],
  ['signing', () => user.post(`${file}/signed-url`, { expiry: '5m' }), 200],
  ['a list', () => user.get(`${project.storage}/buckets/box/files`), 200],
])('%s costs one round trip', async (_name, request, status) => {
  expect(await costOf(request, status)).toBe(1);
});

it.each([
  ['a small upload right after another', 4, 1],
  ['an upload of 1 MiB right after another', 1024 * 1024, 1],
  ['a large upload', 1_200_000, 2],
])('%s costs the least possible round trips', async (name, bytes, expected) => {
  const content = randomBytes(bytes);
  const send = (n: number): Promise<HttpAnswer> =>
    upload(user, project.storage, 'box', content, { name: `${name} ${n}.bin` });
  expect(await costOf(send, 201)).toBe(expected);
});

it.each<[string, (n: number) => object, number]>([
  ['a new name', (n) => ({ filename: `renamed ${n}` }), 1],
  ['another type', (n) => ({ content_type: n % 2 ? 'text/csv' : 'text/plain' }), 2],
  ['a move', (n) => ({ bucket_name: n % 2 ? 'box' : 'shelf' }), 2],
  [
    'a move with another type',
    (n) => ({ bucket_name: n % 2 ? 'box' : 'shelf', content_type: 'text/html' }),
    2,
  ],
])('%s costs the least possible round trips', async (_name, change, expected) => {
  await user.post(`${project.storage}/buckets`, { name: 'shelf' });
  expect(await costOf((n) => user.patch(file, change(n)), 200)).toBe(expected);
});

it.each<[string, (base: string) => Promise<HttpAnswer>]>([
  ['the signed-in user', (base) => user.get(`${base}/auth/v1/user`)],
  ['a download', (base) => user.get(`${base}/storage/v1/object/box/kept.bin`)],
  ['a public download', (base) => plinth.http.get(`${base}/storage/v1/object/public/box/kept.bin`)],
  ['the information about a file', (base) => user.get(`${base}/storage/v1/object/info/box/kept.bin`)],
  ['a list', (base) => user.post(`${base}/storage/v1/object/list/box`, { prefix: '' })],
  ['signing', (base) => user.post(`${base}/storage/v1/object/sign/box/kept.bin`, { expiresIn: 60 })],
])('%s for supabase-js costs one round trip', async (_name, request) => {
  expect(await costOf(() => request(`/p/${project.slug}`), 200)).toBe(1);
});

it('a further chunk of a resumable upload costs two', async () => {
  const url = `/p/${project.slug}/storage/v1/upload/resumable`;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { headers } = await user.post(url, undefined, {
    headers: {
      'tus-resumable': '1.0.0',
      'upload-length': '1000',
      'upload-metadata': `bucketName ${base64('box')},objectName ${base64('chunks')}`,
    },
  });
  const append = (n: number): Promise<HttpAnswer> =>
    user.send('PATCH', headers.get('location') ?? '', {
      body: 'x',
      headers: {
        'tus-resumable': '1.0.0',
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(n),
      },
    });
  expect((await append(0)).status).toBe(204);
  expect(await costOf((n) => append(n + 1), 204)).toBe(2);
});
