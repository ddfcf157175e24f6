/** Storage by an unmodified supabase-js (DECISIONS.md 9). storage-js.soak-spec.ts runs the suite of storage-js. */
import { randomUUID } from 'node:crypto';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { eventually } from '../../support/eventually';
import { accessOf, asOwner, sqlstateOf } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

/** Realtime needs a WebSocket class on construction; none is opened here. */
class NoSocket {
  readonly readyState = 3;
}

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
let service: SupabaseClient;
let anon: SupabaseClient;
let user: SupabaseClient;
let stranger: SupabaseClient;
let userId: string;

const clientOf = ({ slug }: TestProject, key: string, bearer?: string): SupabaseClient =>
  createClient(`${plinth.baseUrl}/p/${slug}`, key, {
    realtime: { transport: NoSocket as never },
    auth: { persistSession: false, autoRefreshToken: false },
    ...(bearer === undefined ? {} : { global: { headers: { Authorization: `Bearer ${bearer}` } } }),
  });

const signedIn = (sub: string): SupabaseClient =>
  clientOf(project, project.anonKey, project.token({ sub, role: 'authenticated' }));

const folder = (): string => `f-${randomUUID()}`;
const get = (url: string, init?: RequestInit): Promise<Response> => fetch(url, init);
const raw = (path: string, init: RequestInit = {}, of = project): Promise<Response> =>
  get(`${plinth.baseUrl}/p/${of.slug}/storage/v1/${path}`, {
    ...init,
    headers: { apikey: of.serviceKey, authorization: `Bearer ${of.serviceKey}`, ...init.headers },
  });

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = await Promise.all([
    plinth.createProject({ plan: 'enterprise' }),
    plinth.createProject({ plan: 'enterprise' }),
  ]);
  service = clientOf(project, project.serviceKey);
  anon = clientOf(project, project.anonKey);
  userId = randomUUID();
  user = signedIn(userId);
  stranger = signedIn(randomUUID());
  await service.storage.createBucket('private');
  await service.storage.createBucket('public', { public: true });
  await clientOf(other, other.serviceKey).storage.createBucket('private');
});
afterAll(() => plinth.stop());

describe('buckets', () => {
  it('are created, listed, read, changed, emptied and deleted', async () => {
    const { storage } = service;
    const options = { public: false, fileSizeLimit: '1kb', allowedMimeTypes: ['text/plain'] };
    expect(await storage.createBucket('mine', options)).toEqual({ data: { name: 'mine' }, error: null });
    const { data } = await storage.getBucket('mine');
    expect(data).toMatchObject({ id: 'mine', name: 'mine', public: false, file_size_limit: 1000 });
    expect((await storage.listBuckets({ search: 'MIN', limit: 5 })).data).toEqual([data]);
    await storage.updateBucket('mine', { public: true, fileSizeLimit: null, allowedMimeTypes: null });
    expect((await storage.getBucket('mine')).data).toMatchObject({ public: true, file_size_limit: null });
    for (const name of ['a', 'b']) await storage.from('mine').upload(name, name);
    expect((await storage.deleteBucket('mine')).error).toMatchObject({
      name: 'StorageApiError',
      status: 409,
      statusCode: '409',
    });
    expect((await storage.emptyBucket('mine')).error).toBeNull();
    expect((await storage.from('mine').list()).data).toEqual([]);
    expect((await storage.deleteBucket('mine')).error).toBeNull();
    expect((await storage.getBucket('mine')).error).toMatchObject({
      status: 404,
      message: 'Bucket not found',
    });
  });

  it.each<[string, object]>([
    ['a name that is taken', { id: 'private', name: 'private' }],
    ['an id that differs from the name', { id: 'x', name: 'y' }],
    ['no name', { id: 'x' }],
    ['an invalid size', { name: 'x', file_size_limit: '1 parsec' }],
    ['types that are not a list', { name: 'x', allowed_mime_types: 'text/plain' }],
  ])('are refused with %s', async (_case, body) => {
    const answer = await raw('bucket', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    expect([400, 409]).toContain(answer.status);
    expect(await answer.json()).toEqual({
      statusCode: String(answer.status),
      error: expect.any(String),
      message: expect.any(String),
    });
  });
});

it('emptying a bucket ends, even if a trigger of the project adds a file for each deleted file', async () => {
  const own = await plinth.createProject({ plan: 'enterprise' });
  const { storage } = clientOf(own, own.serviceKey);
  await storage.createBucket('endless');
  await own.sql(`
    insert into storage.files (bucket_id, filename, content_type, size, sha256, object_id, owner_id)
      select b.id, n::text, 'text/plain', 0, repeat('0', 64), gen_random_uuid(), null
        from storage.buckets b, generate_series(1, 1000) n;
    create function again() returns trigger language plpgsql as $$ begin
      insert into storage.files (bucket_id, filename, content_type, size, sha256, object_id, owner_id)
        values (old.bucket_id, old.filename || 'x', 'text/plain', 0, old.sha256, gen_random_uuid(), null);
      return null; end $$;
    create trigger again after delete on storage.files for each row execute function again();`);
  expect((await storage.emptyBucket('endless')).error).toBeNull();
});

describe('uploads', () => {
  const text = 'Hello from Plinth';
  it.each<[string, () => Blob | Buffer | ReadableStream | string | FormData]>([
    ['a text', () => text],
    ['a buffer', () => Buffer.from(text)],
    ['a blob', () => new Blob([text], { type: 'text/plain' })],
    ['a stream', () => new Blob([text]).stream()],
    [
      'a form',
      () => {
        const form = new FormData();
        form.append('', new Blob([text]), 'other.txt');
        return form;
      },
    ],
  ])('take %s', async (_case, body) => {
    const path = `${folder()}/hello world.txt`;
    const { data, error } = await service.storage
      .from('private')
      .upload(path, body(), { cacheControl: '60', metadata: { year: 2026 }, duplex: 'half' });
    expect(error).toBeNull();
    expect(data).toMatchObject({ path, fullPath: `private/${path}`, id: expect.any(String) });
    expect(await (await service.storage.from('private').download(path)).data?.text()).toBe(text);
    expect((await service.storage.from('private').info(path)).data).toMatchObject({
      size: text.length,
      metadata: { year: 2026 },
      bucketId: 'private',
      cacheControl: 'max-age=60',
    });
    const { headers } = await raw(`object/private/${encodeURI(path)}`, { method: 'HEAD' });
    expect(headers.get('cache-control')).toBe('private, max-age=60');
  });

  it('replace a file with upsert or update only', async () => {
    const files = service.storage.from('private');
    const path = `${folder()}/a.txt`;
    await files.upload(path, 'one');
    expect((await files.upload(path, 'two')).error).toMatchObject({
      status: 409,
      message: 'The resource already exists',
    });
    expect((await files.upload(path, 'three', { upsert: true })).error).toBeNull();
    expect(await (await files.download(path)).data?.text()).toBe('three');
    expect((await files.update(path, 'four')).error).toBeNull();
    expect(await (await files.download(path)).data?.text()).toBe('four');
  });

  it('keep the declared type, and detect the type if none is declared', async () => {
    const files = service.storage.from('private');
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk', 'base64');
    for (const [contentType, kept] of [
      ['image/webp', 'image/webp'],
      ['application/octet-stream', 'image/png'],
    ]) {
      const path = `${folder()}/a`;
      await files.upload(path, png, { contentType });
      expect((await files.info(path)).data).toMatchObject({ contentType: kept });
    }
  });

  it('obey the limits of the bucket', async () => {
    await service.storage.createBucket('small', {
      public: false,
      fileSizeLimit: 10,
      allowedMimeTypes: ['text/*'],
    });
    const files = service.storage.from('small');
    expect((await files.upload('a', 'x'.repeat(11))).error).toMatchObject({ statusCode: '413' });
    expect((await files.upload('a', 'x', { contentType: 'image/png' })).error).toMatchObject({
      statusCode: '415',
      message: 'mime type image/png is not supported',
    });
    expect((await files.list()).data).toEqual([]);
  });

  // Slashes are encoded, as fetch() itself would resolve the dots.
  it.each(['..%2Fa', 'a%2F..%2F..%2Fb', '.%2Fa', 'a%00b', 'x'.repeat(1_025), 'a%0Ab'])(
    'refuse the name %j',
    async (name) => {
      const { status } = await raw(`object/private/${name}`, { method: 'POST', body: 'x' });
      expect([400, 404]).toContain(status);
    },
  );

  it('that are interrupted leave no file', async () => {
    const path = `${folder()}/broken`;
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.alloc(1_000));
        controller.error(new Error('the client disconnects'));
      },
    });
    await expect(raw(`object/private/${path}`, { method: 'POST', body, duplex: 'half' })).rejects.toThrow();
    expect((await service.storage.from('private').exists(path)).data).toBe(false);
  });
});

describe('lists', () => {
  let root: string;
  const names = ['b.txt', 'a.txt', 'sub/c.txt', 'sub/deep/d.txt', 'Öl.txt', 'zoo/e.txt', 'a%_.txt'];
  beforeAll(async () => {
    root = folder();
    // Uses raw requests, because the client does not encode the percent sign.
    for (const name of names)
      await raw(`object/private/${root}/${encodeURI(name)}`, { method: 'POST', body: name });
  });
  const list = async (options?: object): Promise<string[]> => {
    const { data, error } = await service.storage.from('private').list(root, options);
    expect(error).toBeNull();
    return (data ?? []).map(({ name, id }) => (id === null ? `${name}/` : name));
  };

  it('show folders, then files, in every order', async () => {
    const files = ['a%_.txt', 'a.txt', 'b.txt', 'Öl.txt'];
    expect(await list()).toEqual(['sub/', 'zoo/', ...files]);
    expect(await list({ sortBy: { column: 'name', order: 'desc' } })).toEqual([
      'zoo/',
      'sub/',
      ...files.toReversed(),
    ]);
    expect(await list({ sortBy: { column: 'created_at', order: 'asc' } })).toEqual([
      'sub/',
      'zoo/',
      'b.txt',
      'a.txt',
      'Öl.txt',
      'a%_.txt',
    ]);
  });

  it('have pages', async () => {
    expect(await list({ limit: 3 })).toEqual(['sub/', 'zoo/', 'a%_.txt']);
    expect(await list({ limit: 3, offset: 3 })).toEqual(['a.txt', 'b.txt', 'Öl.txt']);
    expect(await list({ limit: 3, offset: 1, sortBy: { column: 'updated_at' } })).toEqual([
      'zoo/',
      'b.txt',
      'a.txt',
    ]);
  });

  it('search for the beginning of names, as plain text', async () => {
    expect(await list({ search: 'B' })).toEqual(['b.txt']);
    expect(await list({ search: 'a%' })).toEqual(['a%_.txt']);
    expect(await list({ search: 's' })).toEqual(['sub/']);
  });

  it.each([
    ['name', 'asc'],
    ['name', 'desc'],
    ['created_at', 'asc'],
    ['updated_at', 'desc'],
  ] as const)('list-v2 visits each entry once by %s %s', async (column, order) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 10; page += 1) {
      const { data, error } = await service.storage.from('private').listV2({
        prefix: `${root}/`,
        with_delimiter: true,
        limit: 2,
        sortBy: { column, order },
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(error).toBeNull();
      seen.push(
        ...(data?.folders ?? []).map(({ name }) => name),
        ...(data?.objects ?? []).map(({ name }) => name),
      );
      cursor = data?.nextCursor;
      if (!data?.hasNext) break;
    }
    expect(seen).toHaveLength(6);
    expect(new Set(seen)).toEqual(
      new Set(['sub/', 'zoo/', 'b.txt', 'a.txt', 'Öl.txt', 'a%_.txt'].map((name) => `${root}/${name}`)),
    );
  });

  it('list-v2 without a delimiter shows all files below the prefix', async () => {
    const { data } = await service.storage.from('private').listV2({ prefix: root });
    expect(data).toMatchObject({ hasNext: false, folders: [] });
    expect(data?.objects.map(({ name }) => name).toSorted()).toEqual(
      names.map((name) => `${root}/${name}`).toSorted(),
    );
  });

  it.each([
    'x',
    Buffer.from('[true,"2026","a"]').toString('base64url'),
    Buffer.from('{}').toString('base64url'),
  ])('list-v2 answers 400 for the cursor %j', async (cursor) =>
    expect((await service.storage.from('private').listV2({ cursor })).error).toMatchObject({ status: 400 }),
  );
});

describe('moves, copies and deletions', () => {
  it('move and copy within a bucket and into another', async () => {
    const [files, publicFiles] = [service.storage.from('private'), service.storage.from('public')];
    const root = folder();
    await files.upload(`${root}/a`, 'a');
    expect((await files.move(`${root}/a`, `${root}/b`)).data).toEqual({ message: 'Successfully moved' });
    expect((await files.copy(`${root}/b`, `${root}/c`)).data).toEqual({ path: `private/${root}/c` });
    expect((await files.move(`${root}/b`, `${root}/d`, { destinationBucket: 'public' })).error).toBeNull();
    expect((await files.copy(`${root}/c`, `${root}/e`, { destinationBucket: 'public' })).error).toBeNull();
    expect((await publicFiles.list(root)).data?.map(({ name }) => name)).toEqual(['d', 'e']);
    expect((await files.list(root)).data?.map(({ name }) => name)).toEqual(['c']);
    expect((await files.move(`${root}/none`, 'x')).error).toMatchObject({
      status: 404,
      message: 'Object not found',
    });
    expect((await files.move(`${root}/c`, '../x')).error).toMatchObject({ status: 400 });
  });

  it('remove many files, and omit files that do not exist', async () => {
    const files = service.storage.from('private');
    const root = folder();
    for (const name of ['a', 'b', 'c']) await files.upload(`${root}/${name}`, name);
    const { data } = await files.remove([`${root}/a`, `${root}/b`, `${root}/none`]);
    expect(data?.map(({ name }) => name).toSorted()).toEqual([`${root}/a`, `${root}/b`]);
    expect((await raw(`object/private/${root}/c`, { method: 'DELETE' })).status).toBe(200);
    expect((await raw(`object/private/${root}/c`, { method: 'DELETE' })).status).toBe(404);
  });
});

describe('addresses without credentials', () => {
  it('show files of public buckets only', async () => {
    const path = `${folder()}/größe 1.txt`;
    for (const bucket of ['public', 'private']) await service.storage.from(bucket).upload(path, 'Hello');
    const { data } = anon.storage.from('public').getPublicUrl(path);
    const answer = await get(data.publicUrl);
    expect([answer.status, await answer.text()]).toEqual([200, 'Hello']);
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect((await get(anon.storage.from('private').getPublicUrl(path).data.publicUrl)).status).toBe(404);
    const saved = await get(
      anon.storage.from('public').getPublicUrl(path, { download: 'a.txt' }).data.publicUrl,
    );
    expect(saved.headers.get('content-disposition')).toMatch(/^attachment; filename="a.txt"/);
  });

  it('save HTML and SVG instead of showing them', async () => {
    const path = `${folder()}/a.html`;
    await service.storage.from('public').upload(path, '<script>1</script>', { contentType: 'text/html' });
    const { headers } = await get(anon.storage.from('public').getPublicUrl(path).data.publicUrl);
    expect(headers.get('content-disposition')).toMatch(/^attachment/);
  });

  it('that are signed show the file until it is renamed, or the address expires', async () => {
    const files = service.storage.from('private');
    const path = `${folder()}/a b.txt`;
    await files.upload(path, 'Hello');
    const { data } = await files.createSignedUrl(path, 60);
    expect(await (await get(String(data?.signedUrl))).text()).toBe('Hello');
    const many = await files.createSignedUrls([path, 'none'], 60, { download: true });
    expect(many.data?.map(({ error }) => error === null)).toEqual([true, false]);
    expect((await get(String(many.data?.[0]?.signedUrl))).headers.get('content-disposition')).toMatch(
      /^attachment/,
    );
    await files.move(path, `${path}.moved`);
    expect((await get(String(data?.signedUrl))).status).toBe(404);
    await files.move(`${path}.moved`, path);
    const short = await files.createSignedUrl(path, 1);
    await eventually(async () => expect((await get(String(short.data?.signedUrl))).status).toBe(401));
  });

  it('that are altered, of another file or of another project are refused', async () => {
    const files = service.storage.from('private');
    const root = folder();
    for (const name of ['a', 'b']) await files.upload(`${root}/${name}`, name);
    const url = String((await files.createSignedUrl(`${root}/a`, 60)).data?.signedUrl);
    const token = new URL(url).searchParams.get('token') ?? '';
    expect((await get(url.replace(`${root}/a`, `${root}/b`))).status).toBe(404);
    for (const changed of [
      '',
      `${token}x`,
      token.replace(/^./, 'x'),
      `${token}.1`,
      token.split('.').slice(1).join('.'),
    ])
      expect((await get(`${url.split('?')[0]}?token=${changed}`)).status).toBe(401);
    expect((await get(url.replace(`/p/${project.slug}/`, `/p/${other.slug}/`))).status).toBe(401);
  });
});

describe('signed uploads', () => {
  it('create the file once, as its signer', async () => {
    const files = user.storage.from('private');
    const path = `${folder()}/signed.txt`;
    const { data } = await files.createSignedUploadUrl(path);
    const upload = () => anon.storage.from('private').uploadToSignedUrl(path, String(data?.token), 'Hello');
    expect((await upload()).error).toBeNull();
    expect((await upload()).error).toMatchObject({ status: 409 });
    expect((await files.remove([path])).data).toMatchObject([{ owner: userId, name: path }]);
  });

  it("replace a file only with upsert, and only the signer's own file", async () => {
    const path = `${folder()}/signed.txt`;
    await user.storage.from('private').upload(path, 'one');
    const own = await user.storage.from('private').createSignedUploadUrl(path, { upsert: true });
    expect(
      (await anon.storage.from('private').uploadToSignedUrl(path, String(own.data?.token), 'two')).error,
    ).toBeNull();
    const foreign = await stranger.storage.from('private').createSignedUploadUrl(path, { upsert: true });
    const answer = await anon.storage
      .from('private')
      .uploadToSignedUrl(path, String(foreign.data?.token), 'three');
    expect(answer.error).toMatchObject({ status: 403 });
    expect(await (await user.storage.from('private').download(path)).data?.text()).toBe('two');
  });

  it('bring only what the signer allows', async () => {
    const path = `${folder()}/signed.png`;
    const sign = (body?: object): Promise<Response> =>
      raw(`object/upload/sign/private/${path}`, {
        method: 'POST',
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
    const signed = await sign({ file_size_limit: 8, allowed_mime_types: ['image/*'] });
    const token = String(
      new URLSearchParams(((await signed.json()) as { url: string }).url.split('?')[1]).get('token'),
    );
    const send = (content: string, contentType: string) =>
      anon.storage.from('private').uploadToSignedUrl(path, token, content, { contentType });
    expect((await send('123456789', 'image/png')).error).toMatchObject({ status: 413 });
    expect((await send('12345678', 'text/plain')).error).toMatchObject({ status: 415 });
    expect((await send('12345678', 'image/png')).error).toBeNull();
    expect((await sign()).status).toBe(200);
    for (const body of [{ file_size_limit: -1 }, { allowed_mime_types: 'image/png' }, { size: 1 }])
      expect((await sign(body)).status).toBe(400);
  });

  it('are refused if the caller may not upload, and for another path, project or secret', async () => {
    expect((await anon.storage.from('private').createSignedUploadUrl('a')).error).not.toBeNull();
    const { data } = await user.storage.from('private').createSignedUploadUrl('mine/a');
    const token = String(data?.token);
    const send = (of: SupabaseClient, path: string, used: string) =>
      of.storage.from('private').uploadToSignedUrl(path, used, 'x');
    expect((await send(anon, 'mine/b', token)).error).toMatchObject({ status: 401 });
    expect((await send(clientOf(other, other.anonKey), 'mine/a', token)).error).toMatchObject({
      status: 401,
    });
    expect((await send(anon, 'mine/a', token.replace(/^../, 'xx'))).error).toMatchObject({ status: 401 });
    plinth.clock.move(7_300);
    expect((await send(anon, 'mine/a', token)).error).toMatchObject({ status: 401 });
    plinth.clock.move(-7_300);
  });
});

describe('policies and credentials', () => {
  it('apply as in the other API', async () => {
    const path = `${folder()}/mine.txt`;
    expect((await user.storage.from('private').upload(path, 'mine')).error).toBeNull();
    expect((await stranger.storage.from('private').download(path)).error).toMatchObject({ status: 404 });
    expect((await anon.storage.from('private').upload(path, 'x')).error).not.toBeNull();
    expect((await stranger.storage.from('private').remove([path])).data).toEqual([]);
    expect((await stranger.storage.from('private').upload(path, 'x', { upsert: true })).error).toMatchObject({
      status: 403,
    });
    expect((await stranger.storage.from('private').createSignedUrl(path, 60)).error).toMatchObject({
      status: 404,
    });
    expect((await stranger.storage.from('private').list(path.split('/')[0])).data).toEqual([]);
    expect((await user.storage.from('private').exists(path)).data).toBe(true);
  });

  it('need a key of the project: a token alone, or a key of another project, is refused', async () => {
    const alone = (headers: Record<string, string>): Promise<number> =>
      get(`${plinth.baseUrl}/p/${project.slug}/storage/v1/bucket`, { headers }).then(({ status }) => status);
    expect(await alone({ authorization: `Bearer ${project.serviceKey}` })).toBe(200);
    expect(await alone({ apikey: project.anonKey })).toBe(200);
    expect(await alone({})).toBe(401);
    expect(await alone({ authorization: `Bearer ${project.token({ role: 'service_role' })}` })).toBe(401);
    expect(await alone({ apikey: other.serviceKey })).toBe(401);
  });

  it('have the rate limit of the project', async () => {
    for (const path of ['bucket', 'object/private/none', 'object/public/public/none', 'nowhere']) {
      const { headers } = await raw(path);
      expect([path, headers.get('x-ratelimit-limit')]).toEqual([path, '10000']);
    }
  });

  it('find the project by the apikey if the path has no project', async () => {
    const { data } = await createClient(plinth.baseUrl, project.serviceKey, {
      realtime: { transport: NoSocket as never },
    }).storage.getBucket('private');
    expect(data).toMatchObject({ name: 'private' });
    expect((await get(`${plinth.baseUrl}/storage/v1/bucket`)).status).toBe(401);
    expect((await get(`${plinth.baseUrl}/storage/v1/bucket`, { headers: { apikey: 'x.y.z' } })).status).toBe(
      401,
    );
  });

  it('apply to storage.objects, which has the columns of Supabase', async () => {
    const path = `${folder()}/sub/a.png`;
    await user.storage.from('private').upload(path, 'x', { contentType: 'image/png' });
    await project.sql(`create function own_objects() returns setof storage.objects stable language sql
      as $$ select * from storage.objects where (storage.foldername(name))[2] = 'sub' $$`);
    const rows = (of: SupabaseClient) => of.rpc('own_objects').then(({ data }) => data as object[]);
    expect(await rows(user)).toMatchObject([
      {
        bucket_id: 'private',
        name: path,
        owner_id: userId,
        path_tokens: path.split('/'),
        metadata: { mimetype: 'image/png', size: 1 },
      },
    ]);
    expect(await rows(stranger)).toEqual([]);
    const names = await project.sql(
      `select storage.filename('a/b.tar.gz') as f, storage.extension('a/b.tar.gz') as e`,
    );
    expect(names).toEqual([{ f: 'b.tar.gz', e: 'gz' }]);
  });
});

describe("policies of Supabase's storage.objects", () => {
  const runSql = (query: string) => plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query });
  const named = async (pattern: string): Promise<unknown> =>
    (
      await project.sql(`select array_agg(policyname || ' ' || cmd || ' ' || roles::text order by 1) as all
        from pg_policies where tablename = 'files' and policyname like '${pattern}'`)
    )[0].all;

  it('move over as they are, in SQL, migrations and sessions of the owner', async () => {
    const team = folder();
    await project.sql(`create table teams (folder text, member uuid); alter table teams disable row level security;
      grant select on teams to authenticated; insert into teams values ('${team}', '${userId}')`);
    const created = await runSql(`
      create policy "moved: members read" on storage.objects for select to authenticated using (
        bucket_id = 'private' and exists (select 1 from teams t where t.folder = (storage.foldername(objects.name))[1]
          and t.member = (select auth.uid()) and objects.path_tokens[1] = t.folder));
      CREATE POLICY "moved: anyone adds pictures" ON "storage"."objects" FOR INSERT TO anon, authenticated
        WITH CHECK (bucket_id = 'private' AND lower(storage.extension(name)) = 'png');
      create policy "moved: anyone reads pictures" on storage.objects for select to anon using (name ilike '%.png');`);
    expect([created.status, created.text]).toEqual([200, expect.anything()]);
    const sql = `do $$ begin
      create policy "moved: never seen" on storage.objects as restrictive for select using (
        name not like '%secret%' or owner_id = auth.uid()::text or metadata->>'mimetype' = 'x/y'); end $$`;
    const migrated = await plinth.admin.post(`/admin/v1/projects/${project.id}/migrations`, {
      migrations: [{ version: '1', name: 'policies', sql }],
    });
    expect(migrated.status).toBe(200);
    expect(await named('moved: %')).toEqual([
      'moved: anyone adds pictures INSERT {anon,authenticated}',
      'moved: anyone reads pictures SELECT {anon}',
      'moved: members read SELECT {authenticated}',
      'moved: never seen SELECT {public}',
    ]);
    for (const name of ['a.txt', 'secret.txt'])
      await service.storage.from('private').upload(`${team}/${name}`, 'x');
    const read = async (of: SupabaseClient, name: string) =>
      (await of.storage.from('private').download(`${team}/${name}`)).error === null;
    expect([
      await read(user, 'a.txt'),
      await read(user, 'secret.txt'),
      await read(stranger, 'a.txt'),
    ]).toEqual([true, false, false]);
    // A caller who does not see the bucket gets 404, whatever the policies of its files say.
    await project.sql("create policy shown on storage.buckets for select to anon using (name = 'private')");
    const add = async (name: string) =>
      (await anon.storage.from('private').upload(`${team}/${name}`, 'x')).error;
    expect([await add('b.PNG'), await add('b.txt')]).toEqual([
      null,
      expect.objectContaining({ status: 403 }),
    ]);
  });

  it('are dropped and refused as those of a table, and leave the view as it was', async () => {
    const columns = (): Promise<unknown> =>
      project.sql(`select c.oid, c.relkind, c.relacl::text, (select count(*) from pg_attribute where attrelid = c.oid) as n
        from pg_class c where oid = 'storage.objects'::regclass`);
    const before = await columns();
    const access = await accessOf(plinth, project.id);
    await asOwner(access, async (client) => {
      const create = 'create policy "mine: x" on storage.objects using (true)';
      await client.query(create);
      expect(await named('mine: %')).toEqual(['mine: x ALL {public}']);
      expect(await sqlstateOf(client.query(create))).toBe('42710');
      await client.query('drop policy "mine: x" on storage.objects');
      expect(await sqlstateOf(client.query('drop policy "mine: x" on storage.objects'))).toBe('42704');
      await client.query('drop policy if exists "mine: x" on storage.objects');
      expect(await sqlstateOf(client.query(`${create.replace('true', 'colour = 1')}`))).toBe('42703');
      await client.query(`begin; ${create}; rollback`);
      await client.query(`${create.replace('x', 'y')}; ${create.replace('objects', 'files')}`);
      expect(await named('mine: %')).toEqual(['mine: x ALL {public}', 'mine: y ALL {public}']);
      await client.query(
        'drop policy "mine: x" on storage.files; drop policy "mine: y" on storage.objects; create policy "mine: z" on teams',
      );
    });
    expect(await named('mine: %')).toBeNull();
    expect(await columns()).toEqual(before);
  });
});
