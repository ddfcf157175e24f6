// Data of the storage benchmark: a project with files of three sizes and a bucket of 10,000 rows, and the same files in a
// directory for the yardsticks.
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { call } from './plinth.mjs';
import { inChunks, inOneRequest } from './upload-load.mjs';

const MB = 1024 * 1024;

/** `count`: number of different files that are downloaded in turn. */
export const SIZES = {
  small: { label: '4 KB', unit: 'requests', count: 400, bytes: randomBytes(4 * 1024) },
  medium: { label: '1 MB', unit: 'requests', count: 32, bytes: randomBytes(MB) },
  large: { label: '100 MB', unit: 'MB', count: 4, bytes: randomBytes(100 * MB) },
};

/** Further projects, for uploads into ten at once. */
const OTHER_PROJECTS = 9;
const LISTED_ROWS = 10_000;
const LISTED = `
  insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id, created_at)
  select b.id, 'folder/file ' || n || '.txt', 'text/plain', n, repeat('0', 64), b.owner_id, gen_random_uuid(),
    now() - n * interval '1 second'
  from storage.buckets b, generate_series(1, ${LISTED_ROWS}) n where b.slug = 'listed';
  analyze`;

/** @param directory that the yardsticks serve from */
export async function seed(server, directory) {
  const { project, headers, base, api } = await signedUp(server);
  for (const name of ['served', 'listed'])
    await api('POST', '/buckets', { name, is_public: name === 'served' });
  const others = [];
  while (others.length < OTHER_PROJECTS) others.push(await signedUp(server));
  await server.admin('POST', `/admin/v1/projects/${project.id}/sql`, { query: LISTED });
  const paths = { bearer: {}, signed: {}, preview: {}, sign: [] };
  const barePaths = {};
  for (const [size, { count, bytes }] of Object.entries(SIZES)) {
    const ids = [];
    barePaths[size] = [];
    for (let n = 0; n < count; n += 1) {
      ids.push(await store(server.baseUrl + base, headers, `${size}-${n}.bin`, bytes));
      writeFileSync(path.join(directory, `${size}-${n}`), bytes);
      barePaths[size].push(`/${size}-${n}`);
    }
    const of = (what) => ids.map((id) => `${base}/files/${id}/${what}`);
    Object.assign(paths.bearer, { [size]: of('download') });
    Object.assign(paths.preview, { [size]: of('preview') });
    paths.sign.push(...of('signed-url'));
    paths.signed[size] = [];
    for (const id of ids) {
      const { data } = await api('POST', `/files/${id}/signed-url`, { expiry: '24h' });
      const { pathname, search } = new URL(data.url);
      paths.signed[size].push(pathname + search);
    }
  }
  const { owner_url: databaseUrl } = await server.admin('GET', `/admin/v1/projects/${project.id}/database`);
  const list = (query) => `${base}/buckets/listed/files?${query}`;
  return {
    databaseUrl,
    plinth: {
      headers,
      paths,
      list,
      lastCursor: await cursorOfLastPage(server.baseUrl, list, headers),
      upload: (bytes, send) => uploadForms(server.baseUrl, [{ base, headers, api }], bytes, send),
      uploadToTen: (bytes, send) =>
        uploadForms(server.baseUrl, [{ base, headers, api }, ...others], bytes, send),
      uploadInChunks: (bytes, send) => uploadChunks(server.baseUrl, { base, headers, api }, bytes, send),
    },
    bare: (url) => ({ paths: barePaths, upload: (bytes, send) => uploadPlain(url, directory, bytes, send) }),
  };
}

/** A new project with a user and the bucket of the uploads. */
async function signedUp(server) {
  const project = await server.admin('POST', '/admin/v1/projects', {
    name: `Bench ${randomBytes(4).toString('hex')}`,
    plan: 'enterprise',
    settings: { storage_requests_per_minute: 10_000_000 },
  });
  const { session } = await call(
    `${server.baseUrl}/v1/auth/${project.id}/signup`,
    'POST',
    { apikey: project.anon_key },
    { email: 'bench@example.com', password: 'correct horse' },
  );
  const headers = { apikey: project.anon_key, authorization: `Bearer ${session.access_token}` };
  const base = `/p/${project.slug}/storage`;
  const api = (method, address, body) => call(server.baseUrl + base + address, method, headers, body);
  await api('POST', '/buckets', { name: 'uploads' });
  return { project, headers, base, api };
}

async function store(base, headers, name, bytes) {
  const form = new FormData();
  form.set('file', new Blob([bytes]), name);
  const response = await fetch(`${base}/buckets/served/upload`, { method: 'POST', headers, body: form });
  const { data, error } = await response.json();
  if (error) throw new Error(`upload of ${name}: ${error.message}`);
  return data.id;
}

async function cursorOfLastPage(baseUrl, list, headers) {
  const response = await fetch(`${baseUrl}${list('limit=1&offset=9949')}`, { headers });
  await response.arrayBuffer();
  return encodeURIComponent(response.headers.get('x-next-cursor'));
}

/**
 * Files above this size are deleted after each run (`after`), smaller ones at the end. For minutes ext4 checks recently freed
 * inodes before it allocates one, so deleting thousands of files would slow down the next upload.
 */
const KEPT_SIZE = MB;

/** Multipart forms, each with a different filename, to the projects in turn. */
async function uploadForms(url, projects, bytes, send) {
  const boundary = 'plinth-bench-boundary';
  const before = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="x.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const prefix = randomBytes(4).toString('hex');
  const head = (n) => {
    const { base, headers } = projects[n % projects.length];
    return {
      path: `${base}/buckets/uploads/upload?filename=${prefix}-${n}`,
      headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    };
  };
  const parts = [Buffer.from(before), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)];
  return {
    ...(await send(inOneRequest({ url, method: 'POST', head, parts }))),
    after: removal(projects, prefix, bytes),
  };
}

/** Chunks of the size that Supabase's clients send. */
const CHUNK_SIZE = 6 * MB;

async function uploadChunks(url, project, bytes, send) {
  const prefix = randomBytes(4).toString('hex');
  const headers = { ...project.headers, 'tus-resumable': '1.0.0' };
  const inBase64 = (text) => Buffer.from(text).toString('base64');
  const head = (n) => ({
    path: `${project.base}/v1/upload/resumable`,
    headers: {
      ...headers,
      'upload-length': bytes.length,
      'upload-metadata': `bucketName ${inBase64('uploads')},objectName ${inBase64(`${prefix}-${n}`)}`,
    },
  });
  const outcome = await send(inChunks({ url, head, headers, bytes, chunkSize: CHUNK_SIZE }));
  return { ...outcome, after: removal([project], prefix, bytes) };
}

/** Removes files of a run above KEPT_SIZE. */
const removal =
  (projects, prefix, { length }) =>
  async () => {
    if (length <= KEPT_SIZE) return;
    for (const { api } of projects) {
      const { data: files } = await api('GET', `/buckets/uploads/files?limit=1000&prefix=${prefix}`);
      if (files.length > 0) await api('POST', '/files/bulk-delete', { file_ids: files.map(({ id }) => id) });
    }
  };

async function uploadPlain(url, directory, bytes, send) {
  const prefix = `upload-${randomBytes(4).toString('hex')}`;
  const head = (n) => ({ path: `/${prefix}-${n}`, headers: {} });
  const result = await send(inOneRequest({ url, method: 'PUT', head, parts: [bytes] }));
  const after = async () => {
    if (bytes.length <= KEPT_SIZE) return;
    for (const name of readdirSync(directory))
      if (name.startsWith(prefix)) rmSync(path.join(directory, name));
  };
  return { ...result, after };
}
