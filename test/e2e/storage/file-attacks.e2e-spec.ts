/** Attacks on files that every API must withstand: SPEC's paths, storage-js, signed addresses, TUS and S3. */
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { TestPlinth } from '../../support/plinth';
import { type S3Credentials, sha256, signS3 } from '../../support/s3-signature';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
let key: S3Credentials;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = await Promise.all([
    plinth.createProject({ plan: 'enterprise' }),
    plinth.createProject({ plan: 'enterprise' }),
  ]);
  key = (await plinth.admin.post(`/admin/v1/projects/${project.id}/s3-keys`, {})).body;
  for (const one of [project, other])
    await one.service.post(`/p/${one.slug}/storage/v1/bucket`, { name: 'box', public: true });
});
afterAll(() => plinth.stop());

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}
type Headers = Record<string, string>;

const keys = (of = project): Headers => ({
  apikey: of.serviceKey,
  authorization: `Bearer ${of.serviceKey}`,
});

/** fetch() would resolve the dots of the path. */
function send(method: string, path: string, given: Headers = {}, body?: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(plinth.baseUrl);
  const headers =
    body === undefined ? given : { ...given, 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const js = (rest: string, of = project): string => `/p/${of.slug}/storage/v1/${rest}`;
const encoded = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const json = { 'content-type': 'application/json' };
const metadata = (name: string): string =>
  `bucketName ${Buffer.from('box').toString('base64')},objectName ${Buffer.from(name).toString('base64')}`;

async function s3(method: string, name: string, body = ''): Promise<Answer> {
  const target = js(`s3/box/${encoded(name)}`);
  const { host } = new URL(plinth.baseUrl);
  const { headers } = signS3(key, { method, host, target, payload: sha256(body) });
  return send(method, target, { ...headers, host }, body);
}

/** Functions that each store the text `x` under a name. */
const WRITES: Readonly<Record<string, (name: string) => Promise<Answer>>> = {
  "an upload through Plinth's own API": (name) => {
    const form = `--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n--b--\r\n`;
    const path = `/p/${project.slug}/storage/buckets/box/upload?filename=${encoded(name)}`;
    return send('POST', path, { ...keys(), 'content-type': 'multipart/form-data; boundary=b' }, form);
  },
  'the upload of storage-js': (name) => send('POST', js(`object/box/${encoded(name)}`), keys(), 'x'),
  'a signed upload': async (name) => {
    const path = js(`object/upload/sign/box/${encoded(name)}`);
    const signed = await send('POST', path, keys());
    if (signed.status !== 200) return signed;
    const token = /token=([^"]+)/.exec(signed.text)?.[1] ?? '';
    return send('PUT', `${path}?token=${token}`, {}, 'x');
  },
  'a copy': async (name) => {
    const body = { bucketId: 'box', sourceKey: 'source', destinationKey: name };
    return send('POST', js('object/copy'), { ...keys(), ...json }, JSON.stringify(body));
  },
  'a move': async (name) => {
    const from = randomUUID();
    await send('POST', js(`object/box/${from}`), keys(), 'x');
    const body = { bucketId: 'box', sourceKey: from, destinationKey: name };
    return send('POST', js('object/move'), { ...keys(), ...json }, JSON.stringify(body));
  },
  'a resumable upload': (name) =>
    send(
      'POST',
      js('upload/resumable'),
      {
        ...keys(),
        'tus-resumable': '1.0.0',
        'upload-length': '1',
        'upload-metadata': metadata(name),
        'content-type': 'application/offset+octet-stream',
      },
      'x',
    ),
  'an object of S3': (name) => s3('PUT', name, 'x'),
};
const SURFACES = Object.keys(WRITES);

const REFUSED = ['..', '.', '../x', 'a/../../x', './a', 'a/.', 'a\0b', 'a\nb', 'a\x7fb', 'é'.repeat(513), ''];
const KEPT = [
  'a//b',
  '//double',
  'trailing/',
  '...',
  '..a/b..',
  '\\..\\x',
  'C:\\x',
  '%2e%2e%2fx',
  'a b+c?d#e&f',
  'caf\u00e9',
  'cafe\u0301',
  '\u202egnp.exe',
  'k'.repeat(1_024),
];

describe.each(SURFACES)('names by %s', (surface) => {
  const write = (name: string): Promise<Answer> => WRITES[surface]!(name);

  it('that would be paths, or are not valid names, are refused', async () => {
    await send('POST', js('object/box/source'), { ...keys(), 'x-upsert': 'true' }, 'x');
    for (const name of REFUSED) {
      const { status } = await write(name);
      expect([name, [400, 403, 404, 405, 409].includes(status)]).toEqual([name, true]);
    }
  });

  it('that look like paths are ordinary names, each for a separate file, in every API', async () => {
    await send('POST', js('object/box/source'), { ...keys(), 'x-upsert': 'true' }, 'x');
    for (const [index, name] of KEPT.entries()) {
      const own = name.length === 1_024 ? name : `${index}-${SURFACES.indexOf(surface)}${name}`;
      await send('DELETE', js('object/box'), { ...keys(), ...json }, JSON.stringify({ prefixes: [own] }));
      const { status } = await write(own);
      expect([own.slice(0, 40), status < 300]).toEqual([own.slice(0, 40), true]);
      const read = await send('GET', js(`object/authenticated/box/${encoded(own)}`), keys());
      expect([own.slice(0, 40), read.status, read.text, (await s3('GET', own)).text]).toEqual([
        own.slice(0, 40),
        200,
        'x',
        'x',
      ]);
    }
  });
});

it('dots in the path of a request reach no other bucket, project or route', async () => {
  for (const path of [
    js('object/box/../../bucket'),
    js('object/public/box/../../../../../etc/passwd'),
    js('object/public/box/..%2f..%2f..%2fetc%2fpasswd'),
    js('object/public/%2e%2e/box/source'),
    js('object/sign/box/../box/source?token=x'),
    js('render/image/public/box/..%2f..%2fsource'),
    js('upload/resumable/..%2f..%2fbucket'),
    `/p/${project.slug}/../${other.slug}/storage/v1/bucket`,
    `/p/${project.slug}%2f..%2f${other.slug}/storage/v1/bucket`,
    `//p/${other.slug}/storage/v1/bucket`,
  ]) {
    const { status } = await send('GET', path, { ...keys(), 'tus-resumable': '1.0.0' });
    expect([path, [400, 401, 404, 405].includes(status)]).toEqual([path, true]);
  }
});

it('keys, uploads and signatures of another project give no access', async () => {
  const name = randomUUID();
  await send('POST', js(`object/box/${name}`), keys(), 'x');
  const signed = await send(
    'POST',
    js(`object/sign/box/${name}`),
    { ...keys(), ...json },
    '{"expiresIn":60}',
  );
  const token = /token=([^"]+)/.exec(signed.text)?.[1] ?? '';
  const upload = await send('POST', js('object/upload/sign/box/new'), keys());
  const uploadToken = /token=([^"]+)/.exec(upload.text)?.[1] ?? '';
  const tus = { 'tus-resumable': '1.0.0', 'upload-length': '3', 'upload-metadata': metadata(randomUUID()) };
  const begun = await send('POST', js('upload/resumable'), { ...keys(), ...tus });
  const id = String(begun.headers.location).split('/').at(-1);
  const bytes = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
  const final = { ...tus, 'upload-concat': `final;${String(begun.headers.location)}` };
  for (const [method, path, headers, body] of [
    ['GET', js(`object/sign/box/${name}?token=${token}`, other), {}],
    ['GET', js(`object/sign/box/${name}?token=${token.replace(project.id, other.id)}`, other), {}],
    ['PUT', js(`object/upload/sign/box/new?token=${uploadToken}`, other), {}, 'x'],
    // A token is valid only for its action.
    ['PUT', js(`object/upload/sign/box/${name}?token=${token}`), {}, 'x'],
    ['GET', js(`object/sign/box/new?token=${uploadToken}`), {}],
    ['GET', js(`render/image/sign/box/${name}?token=${token}`), {}],
    ['GET', js(`object/authenticated/box/${name}`), keys(other)],
    ['HEAD', js(`upload/resumable/${id}`, other), { ...keys(other), ...tus }],
    ['PATCH', js(`upload/resumable/${id}`, other), { ...keys(other), ...tus, ...bytes }, 'abc'],
    ['DELETE', js(`upload/resumable/${id}`, other), { ...keys(other), ...tus }],
    ['POST', js('upload/resumable', other), { ...keys(other), ...final }],
  ] as [string, string, Headers, string?][])
    expect([method, path, [401, 404].includes((await send(method, path, headers, body)).status)]).toEqual([
      method,
      path,
      true,
    ]);
  const { status } = await send(
    'PATCH',
    js(`upload/resumable/${id}`),
    { ...keys(), ...tus, ...bytes },
    'abc',
  );
  expect(status).toBe(204);
});

it('compressed bodies are refused, so that no upload grows on the server', async () => {
  const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024));
  const gzip = { ...keys(), 'content-encoding': 'gzip' };
  const length = { 'content-length': String(bomb.length) };
  const tus = {
    'tus-resumable': '1.0.0',
    'upload-length': String(bomb.length),
    'upload-metadata': metadata(randomUUID()),
    'content-type': 'application/offset+octet-stream',
  };
  for (const [path, headers] of [
    [js(`object/box/${randomUUID()}`), gzip],
    [js('upload/resumable'), { ...gzip, ...tus }],
    [js('object/list/box'), { ...gzip, ...json }],
  ] as const)
    expect([path, (await send('POST', path, { ...headers, ...length }, bomb)).status]).toEqual([path, 415]);
});

it('files that are also scripts or pages are sent with a sandbox at every address without a key', async () => {
  for (const [type, body] of [
    ['image/gif', 'GIF89a/*<script>alert(1)</script>*/=1'],
    ['text/html; charset=utf-8', '<script>alert(1)</script>'],
    ['TEXT/HTML', '<script>alert(1)</script>'],
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['application/xhtml+xml', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
    ['text/xml', '<?xml-stylesheet href="x"?><a/>'],
    ['multipart/x-mixed-replace', '<script>alert(1)</script>'],
  ] as const) {
    const name = randomUUID();
    const made = await send('POST', js(`object/box/${name}`), { ...keys(), 'content-type': type }, body);
    if (made.status !== 200) continue;
    const signed = await send(
      'POST',
      js(`object/sign/box/${name}`),
      { ...keys(), ...json },
      '{"expiresIn":60}',
    );
    const token = /token=([^"]+)/.exec(signed.text)?.[1] ?? '';
    for (const path of [js(`object/public/box/${name}`), js(`object/sign/box/${name}?token=${token}`)]) {
      const { headers } = await send('GET', path);
      expect([type, headers['x-content-type-options']]).toEqual([type, 'nosniff']);
      expect([type, headers['content-security-policy']]).toEqual([type, expect.stringContaining('sandbox')]);
      if (type !== 'image/gif')
        expect([type, headers['content-disposition']]).toEqual([type, expect.stringMatching(/^attachment/)]);
    }
  }
});

it('100,000 parts of an upload by S3 are refused', async () => {
  const parts = '<Part><PartNumber>1</PartNumber><ETag>"x"</ETag></Part>'.repeat(100_000);
  const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
  const target = js(`s3/box/x?uploadId=${randomUUID()}`);
  const { host } = new URL(plinth.baseUrl);
  const { headers } = signS3(key, { method: 'POST', host, target, payload: sha256(body) });
  const refused = await send('POST', target, { ...headers, host }, body);
  expect([400, 404]).toContain(refused.status);
});
