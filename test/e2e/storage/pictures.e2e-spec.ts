/** Pictures that are rendered from files: `render/image` and the `transform` options of an unmodified supabase-js. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { deflateSync } from 'node:zlib';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import sharp from 'sharp';
import { PictureProcess } from '../../../src/storage/pictures/picture-process';
import { StorageSweep } from '../../../src/storage/sweep/storage-sweep.service';
import { backUp, restore } from '../../support/backups';
import { until } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

class NoSocket {
  readonly readyState = 3;
}

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
let service: SupabaseClient;

const clientOf = ({ slug }: TestProject, key: string): SupabaseClient =>
  createClient(`${plinth.baseUrl}/p/${slug}`, key, {
    realtime: { transport: NoSocket as never },
    auth: { persistSession: false, autoRefreshToken: false },
  });

const keyOf = (of: TestProject): Record<string, string> => ({
  apikey: of.serviceKey,
  authorization: `Bearer ${of.serviceKey}`,
});
const urlOf = (path: string, of = project): string => `${plinth.baseUrl}/p/${of.slug}/storage/v1/${path}`;
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(urlOf(path), { headers });
const render = (name: string, query = '', headers: Record<string, string> = {}): Promise<Response> =>
  get(`render/image/authenticated/private/${name}?${query}`, { ...keyOf(project), ...headers });
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());
const sizeOf = async (response: Response): Promise<string> => {
  const bytes = await bytesOf(response);
  if (response.status !== 200) return `${response.status} ${bytes.toString()}`;
  const { width, height, format } = await sharp(bytes).metadata();
  return `${width}x${height} ${format}`;
};

async function upload(name: string, bytes: Buffer, type: string, bucket = 'private'): Promise<void> {
  const options = { contentType: type, upsert: true };
  const { error } = await service.storage.from(bucket).upload(name, bytes, options);
  expect(error).toBeNull();
}

async function uploadToOther(): Promise<void> {
  const { storage } = clientOf(other, other.serviceKey);
  const small = await plain(9, 9).png().toBuffer();
  const { error } = await storage
    .from('box')
    .upload('b.png', small, { contentType: 'image/png', upsert: true });
  expect(error).toBeNull();
}
const renderOfOther = (width: number): Promise<Response> =>
  fetch(urlOf(`render/image/authenticated/box/b.png?width=${width}`, other), { headers: keyOf(other) });

const plain = (width: number, height: number): sharp.Sharp =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } });
const rows = async (): Promise<number> =>
  Number((await project.sql('select count(*)::int as n from storage.renditions'))[0].n);

/** Ids of the processes that this server started for pictures. */
const pictureProcesses = (): number[] =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('picture-worker.cjs'))
    .map((line) => Number.parseInt(line, 10));

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = await Promise.all([
    plinth.createProject({ plan: 'enterprise' }),
    plinth.createProject({ plan: 'enterprise' }),
  ]);
  service = clientOf(project, project.serviceKey);
  await service.storage.createBucket('private');
  await service.storage.createBucket('public', { public: true });
  const photo = await plain(400, 200).jpeg().toBuffer();
  await upload('photo.jpg', photo, 'image/jpeg');
  await upload('photo.jpg', photo, 'image/jpeg', 'public');
});
afterAll(() => plinth.stop());

it('is rendered only from files of its project, whatever ids its owner writes', async () => {
  expect(await sizeOf(await render('photo.jpg', 'width=123'))).toContain('123x');
  const [{ object_id: id }] =
    await project.sql(`select object_id from storage.files where filename = 'photo.jpg'
    and bucket_id = (select id from storage.buckets where name = 'private')`);
  const theirs = clientOf(other, other.serviceKey);
  await theirs.storage.createBucket('private');
  await theirs.storage.from('private').upload('photo.jpg', await plain(9, 9).jpeg().toBuffer());
  await other.sql(`update storage.files set object_id = '${String(id)}'`);
  const path = 'render/image/authenticated/private/photo.jpg?width=123';
  const answer = await fetch(urlOf(path, other), { headers: keyOf(other) });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    500,
    expect.stringContaining('application/json'),
  ]);
  await other.sql('delete from storage.files');
});

it('is rendered again after a restore, because archives have neither its row nor its bytes', async () => {
  const path = 'render/image/authenticated/private/photo.jpg?width=77';
  expect(await sizeOf(await get(path, keyOf(project)))).toContain('77x');
  const archive = await backUp(plinth, project.id);
  const { status, body } = await restore(plinth, archive, { query: '?slug=restored-pictures' });
  expect(status).toBe(201);
  const { service_role_key: key } = (await plinth.admin.get(`/admin/v1/projects/${body.id}/keys`)).body;
  const headers = { apikey: key, authorization: `Bearer ${key}` };
  const count = { query: 'select count(*)::int as n from storage.renditions' };
  const kept = async (): Promise<unknown> =>
    (await plinth.admin.post(`/admin/v1/projects/${body.id}/sql`, count)).body.rows;
  expect(await kept()).toEqual([{ n: 0 }]);
  const again = await fetch(`${plinth.baseUrl}/p/${body.slug}/storage/v1/${path}`, { headers });
  expect(await sizeOf(again)).toContain('77x');
  expect(await kept()).toEqual([{ n: 1 }]);
});

describe('a picture', () => {
  it.each([
    ['width=100', '100x50 jpeg'],
    ['height=100', '200x100 jpeg'],
    ['width=100&height=100', '100x100 jpeg'],
    ['width=100&height=100&resize=contain', '100x50 jpeg'],
    ['width=100&height=100&resize=fill', '100x100 jpeg'],
    ['width=2000&height=2500&resize=contain', '400x200 jpeg'],
    ['quality=20', '400x200 jpeg'],
    ['width=40&format=webp', '40x20 webp'],
    ['width=40&format=avif', '40x20 heif'],
  ])('with %s has %s', async (query, expected) => {
    expect(await sizeOf(await render('photo.jpg', query))).toBe(expected);
  });

  it.each([
    ['image/avif,image/webp,*/*', '', 'image/avif'],
    ['image/webp, */*;q=0.8', '', 'image/webp'],
    ['image/avif;q=0, image/webp', '', 'image/webp'],
    ['*/*', '', 'image/jpeg'],
    ['image/avif,image/webp', 'format=origin', 'image/jpeg'],
  ])('for Accept: %s and %s has the type %s', async (accept, query, type) => {
    const response = await render('photo.jpg', `width=30&${query}`, { accept });
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('vary')).toContain('Accept');
  });

  it('is rotated as its EXIF data says, and has no EXIF data afterwards', async () => {
    const turned = await plain(40, 20).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    await upload('turned.jpg', turned, 'image/jpeg');
    const bytes = await bytesOf(await render('turned.jpg', 'width=10'));
    const metadata = await sharp(bytes).metadata();
    expect(metadata).toMatchObject({ width: 10, height: 20 });
    expect(metadata).not.toHaveProperty('exif');
  });

  it.each(['png', 'webp', 'avif', 'gif'] as const)(
    'is rendered from %s, and keeps its format',
    async (format) => {
      await upload(`one.${format}`, await plain(20, 20).toFormat(format).toBuffer(), `image/${format}`);
      const response = await render(`one.${format}`, 'width=10');
      expect(response.headers.get('content-type')).toBe(`image/${format}`);
      expect(await sizeOf(response)).toContain('10x10');
    },
  );

  it('is rendered from the content, whatever the declared type is', async () => {
    await upload('declared', await plain(20, 20).webp().toBuffer(), 'text/plain');
    expect(await sizeOf(await render('declared', 'width=10'))).toBe('10x10 webp');
  });

  it('is sent in ranges, and answered 304 to a client that has it', async () => {
    const whole = await render('photo.jpg', 'width=60');
    const bytes = await bytesOf(whole);
    const etag = whole.headers.get('etag') ?? '';
    expect((await render('photo.jpg', 'width=60', { 'if-none-match': etag })).status).toBe(304);
    const range = await render('photo.jpg', 'width=60', { range: 'bytes=2-9' });
    expect([range.status, await bytesOf(range)]).toEqual([206, bytes.subarray(2, 10)]);
  });

  it('is rendered once, also for many concurrent clients, and again when the file changes', async () => {
    await upload('changing.png', await plain(80, 80).png().toBuffer(), 'image/png');
    const before = await rows();
    const all = await Promise.all(Array.from({ length: 12 }, () => render('changing.png', 'width=8')));
    expect(all.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(new Set(all.map(({ headers }) => headers.get('etag'))).size).toBe(1);
    expect(await rows()).toBe(before + 1);
    await upload('changing.png', await plain(80, 40).png().toBuffer(), 'image/png');
    expect(await sizeOf(await render('changing.png', 'width=8'))).toBe('8x4 png');
  });

  it('counts against no quota, and is swept by age and with its file', async () => {
    const usage = async (): Promise<unknown> =>
      project.sql('select sum(bytes), sum(files) from storage.usage');
    await upload('swept.png', await plain(30, 30).png().toBuffer(), 'image/png');
    const before = await usage();
    await render('swept.png', 'width=3');
    await render('swept.png', 'width=4');
    expect(await usage()).toEqual(before);
    const left = async (): Promise<unknown[]> =>
      project.sql(`select options from storage.renditions where source_id = (select object_id from storage.files
        where filename = 'swept.png') order by options`);
    await sweep();
    expect(await left()).toHaveLength(2);
    await project.sql(
      `update storage.renditions set created_at = now() - interval '31 days' where options like '3 %'`,
    );
    const [{ object_id: lost }] = await project.sql(
      `select object_id from storage.renditions where options like '3 %' limit 1`,
    );
    await sweep();
    expect(await left()).toHaveLength(1);
    expect(objects()).not.toContain(lost);
    const count = await rows();
    await service.storage.from('private').remove(['swept.png']);
    await sweep();
    expect(await rows()).toBeLessThan(count);
  });

  it('is rendered again when its bytes are lost, as after a restore', async () => {
    const [{ object_id: id }] = await project.sql(`select r.object_id from storage.renditions r
      where r.options like '100 % fill 80 origin' limit 1`);
    const path = objects().find((file) => file.endsWith(id)) ?? '';
    rmSync(join(plinth.dataDir, 'files', path));
    expect(await sizeOf(await render('photo.jpg', 'width=100'))).toBe('100x50 jpeg');
    expect(await sizeOf(await render('photo.jpg', 'width=100&height=100'))).toBe('100x100 jpeg');
  });

  it('replaces older pictures when a project has the maximum number', async () => {
    await other.sql(`insert into storage.renditions (source_id, options, object_id, content_type, size, sha256, created_at)
      select gen_random_uuid(), n::text, gen_random_uuid(), 'image/png', 1, repeat('0', 64), now() - n * interval '1 s'
        from generate_series(1, 10000) n`);
    const { storage } = clientOf(other, other.serviceKey);
    await storage.createBucket('box');
    await storage
      .from('box')
      .upload('a.png', await plain(9, 9).png().toBuffer(), { contentType: 'image/png' });
    const url = urlOf('render/image/authenticated/box/a.png', other);
    for (const width of [1, 2, 3]) {
      const response = await fetch(`${url}?width=${width}`, { headers: keyOf(other) });
      expect(await sizeOf(response)).toBe(`${width}x${width} png`);
    }
    const [{ n }] = await other.sql('select count(*)::int as n from storage.renditions');
    expect(n).toBe(9_002);
  });
});

describe('access', () => {
  it('follows the policies of the file, at all three types of addresses', async () => {
    const anon = { apikey: project.anonKey, authorization: `Bearer ${project.anonKey}` };
    expect((await get('render/image/authenticated/private/photo.jpg?width=10')).status).toBe(401);
    expect((await get('render/image/authenticated/private/photo.jpg?width=10', anon)).status).toBe(404);
    expect((await get('render/image/public/private/photo.jpg?width=10')).status).toBe(404);
    expect(await sizeOf(await get('render/image/public/public/photo.jpg?width=10'))).toBe('10x5 jpeg');
    const { data } = service.storage.from('public').getPublicUrl('photo.jpg', { transform: { width: 12 } });
    expect(await sizeOf(await fetch(data.publicUrl))).toBe('12x6 jpeg');
  });

  it('by a signed URL shows only the picture that was signed', async () => {
    const bucket = service.storage.from('private');
    const { data } = await bucket.createSignedUrl('photo.jpg', 60, { transform: { width: 20, quality: 50 } });
    const url = new URL(data?.signedUrl ?? '');
    const answer = await fetch(url);
    expect(answer.headers.get('x-transformations')).toBe('width:20,resizing_type:fill,quality:50');
    expect(await sizeOf(answer)).toBe('20x10 jpeg');
    expect(await sizeOf(await fetch(`${url.href}&width=399&quality=90`))).toBe('20x10 jpeg');
    const token = url.searchParams.get('token') ?? '';
    const plainUrl = (await bucket.createSignedUrl('photo.jpg', 60)).data?.signedUrl ?? '';
    const plainToken = new URL(plainUrl).searchParams.get('token') ?? '';
    const refused = [
      `render/image/sign/private/photo.jpg?token=${token.replace('width:20', 'width:21')}`,
      `render/image/sign/private/photo.jpg?token=${token.slice(0, token.lastIndexOf('.'))}`,
      `render/image/sign/private/photo.jpg?token=${plainToken}`,
      `render/image/sign/private/photo.jpg?token=${plainToken}.width:20,resizing_type:fill`,
      `object/sign/private/photo.jpg?token=${token}`,
      `object/sign/private/photo.jpg?token=${token.slice(0, token.lastIndexOf('.'))}`,
    ];
    for (const path of refused) expect([path, (await get(path)).status]).toEqual([path, 401]);
    expect((await get(`render/image/sign/private/turned.jpg?token=${token}`)).status).toBe(404);
    expect((await fetch(url.href.replace(project.slug, other.slug))).status).toBe(401);
  });
});

describe('attacks', () => {
  it.each([
    'width=0',
    'width=-1',
    'width=2501',
    'width=1e3',
    'width=100.5',
    'width=NaN',
    'width=',
    'width=1&width=2',
    'height=99999999999999999999',
    'quality=19',
    'quality=101',
    'resize=cover&resize=fill',
    'resize=__proto__',
    'resize=constructor',
    'format=svg',
    'format=heic',
    'format=%00',
  ])('the query %s is refused', async (query) => {
    const response = await render('photo.jpg', query);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ statusCode: '400', message: expect.any(String) });
  });

  const SVG =
    '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><image href="file:///etc/passwd"/></svg>';
  const jpeg = (): Promise<Buffer> => plain(300, 300).jpeg().toBuffer();
  it.each<[string, string, number, () => Buffer | Promise<Buffer>]>([
    ['an SVG', 'image/svg+xml', 415, () => Buffer.from(SVG)],
    ['an SVG declared as a PNG', 'image/png', 415, () => Buffer.from(SVG)],
    ['a text', 'image/jpeg', 415, () => Buffer.from('Hello')],
    ['an empty file', 'image/png', 400, () => Buffer.alloc(0)],
    ['a TIFF', 'image/tiff', 415, () => plain(9, 9).tiff().toBuffer()],
    ['a truncated JPEG', 'image/jpeg', 400, async () => (await jpeg()).subarray(0, 600)],
    ['the first bytes of a JPEG', 'image/jpeg', 400, async () => (await jpeg()).subarray(0, 20)],
    ['a PNG of 50,000 x 50,000 pixels', 'image/png', 400, () => pngOf(50_000, 50_000)],
    ['a PNG of 2^31 x 2^31 pixels', 'image/png', 400, () => pngOf(0x7fffffff, 0x7fffffff)],
    ['a PNG of 1 x 50,000,001 pixels', 'image/png', 400, () => pngOf(1, 50_000_001)],
  ])('%s is refused', async (_case, type, status, bytes) => {
    const name = randomUUID();
    await upload(name, await bytes(), type);
    expect((await render(name, 'width=10')).status).toBe(status);
    expect(await sizeOf(await render('photo.jpg', 'width=77'))).toBe('77x39 jpeg');
  });

  it('a file whose type was altered by SQL reaches no other decoder', async () => {
    for (const [name, bytes] of [
      ['forged-svg', Buffer.from(SVG)],
      ['forged-pdf', Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj')],
      ['forged-tiff', await plain(9, 9).tiff().toBuffer()],
    ] as const) {
      await upload(name, bytes, 'text/plain');
      await project.sql(`update storage.files set content_type = 'image/png' where filename = '${name}'`);
      expect([name, (await render(name, 'width=10')).status]).toEqual([name, 415]);
    }
  });

  it('a file with fewer bytes than its row says does not block a process', async () => {
    await upload('short.jpg', await jpeg(), 'image/jpeg');
    await project.sql(`update storage.files set size = size + 1000 where filename = 'short.jpg'`);
    expect((await render('short.jpg', 'width=10')).status).toBe(500);
    const job = { width: 9, height: 9, resizing: 'fill', quality: 80, format: 'origin' } as const;
    const limits = { maxPixels: 1_000, maxSide: 9, seconds: 3_600 };
    const made = new PictureProcess().render(
      { ...job, ...limits, size: 1_000 },
      Readable.from([Buffer.alloc(10)]),
    );
    await expect(made).rejects.toThrow('fewer bytes');
    expect(await sizeOf(await render('photo.jpg', 'width=78'))).toBe('78x39 jpeg');
  });

  it('a small file of 49 million pixels is rendered within the limits', async () => {
    const bomb = pngOf(7_000, 7_000);
    expect(bomb.length).toBeLessThan(300_000);
    await upload('bomb.png', bomb, 'image/png');
    expect(await sizeOf(await render('bomb.png', 'width=10'))).toBe('10x10 png');
  });

  it('a GIF of 10,000 frames shows its first frame', async () => {
    const gif = await plain(16, 16).gif().toBuffer();
    const frame = gif.subarray(gif.indexOf(Buffer.from('21f904', 'hex')), -1);
    const frames = Buffer.concat([
      gif.subarray(0, -1),
      ...Array<Buffer>(9_999).fill(frame),
      gif.subarray(-1),
    ]);
    await upload('frames.gif', frames, 'image/gif');
    const bytes = await bytesOf(await render('frames.gif', 'width=8'));
    expect((await sharp(bytes, { animated: true }).metadata()).pages ?? 1).toBe(1);
  });

  it('data after the picture in a file is not in the result', async () => {
    const script = '<script>alert(1)</script>';
    await upload('polyglot.jpg', Buffer.concat([await jpeg(), Buffer.from(script)]), 'image/jpeg');
    const response = await render('polyglot.jpg', 'width=30');
    expect((await bytesOf(response)).includes(script)).toBe(false);
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('kill -9 of the processes for pictures only delays the pictures', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const slow = sharp({ create: { width: 3_000, height: 2_000, channels: 3, background: 'gray', noise } });
    await upload('slow.jpg', await slow.jpeg().toBuffer(), 'image/jpeg');
    // Concurrent requests of two projects start two processes, of which one then waits for the next picture.
    await uploadToOther();
    const both = [render('slow.jpg', 'width=1499'), renderOfOther(5)];
    for (const response of await Promise.all(both)) expect(response.status).toBe(200);
    const before = pictureProcesses();
    expect(before).toHaveLength(2);
    const answer = render('slow.jpg', 'width=1500&format=avif');
    const states = (): string =>
      execFileSync('ps', ['-o', 'state=', '-p', before.join(',')], { encoding: 'utf8' });
    await until(() => states().includes('R'));
    for (const pid of before) process.kill(pid, 'SIGKILL');
    expect(await sizeOf(await answer)).toBe('1500x1000 heif');
    const after = pictureProcesses();
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    for (const pid of after) process.kill(pid, 'SIGKILL');
    expect(await sizeOf(await render('photo.jpg', 'width=55'))).toBe('55x28 jpeg');
  });

  it('a flood by one project delays no other project, and leaves few processes', async () => {
    await uploadToOther();
    const flood = Array.from({ length: 20 }, (_, index) => render('slow.jpg', `width=${200 + index}`));
    let isOver = false;
    const statuses = Promise.all(flood).then((all) => {
      isOver = true;
      return all.map(({ status }) => status);
    });
    expect((await renderOfOther(4)).status).toBe(200);
    expect(isOver).toBe(false);
    expect(pictureProcesses().length).toBeLessThanOrEqual(2);
    expect((await statuses).filter((status) => status !== 200 && status !== 503)).toEqual([]);
  });
});

async function sweep(): Promise<void> {
  const swept = plinth.app.get(StorageSweep);
  plinth.clock.move(2 * 86_400);
  try {
    await swept.sweepAll();
  } finally {
    plinth.clock.move(-2 * 86_400);
  }
}

/** Paths below the directory of files. */
const objects = (): string[] =>
  readdirSync(join(plinth.dataDir, 'files'), { recursive: true, encoding: 'utf8' });

/** A gray PNG, which may declare more pixels than it has. */
function pngOf(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([1, 0], 8);
  const bytes = Math.min((Math.ceil(width / 8) + 1) * height, 50_000_000);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(bytes))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function crc32(bytes: Buffer): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
