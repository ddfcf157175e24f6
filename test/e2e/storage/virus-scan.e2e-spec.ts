/**
 * The virus scan with a real clamd: every API, every setting, and a scanner that is down or does not read the whole
 * file.
 */
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ClamdServer, hasClamd, INFECTED, SIGNATURE, STREAM_LIMIT } from '../../support/clamd-server';
import { eventually } from '../../support/eventually';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { expectBytesMatchRows, filesOnDisk } from '../../support/stored-objects';
import type { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const QUARANTINE = 'quarantine-of-the-virus-scan';

(hasClamd ? describe : describe.skip)('with CLAMD_URL', () => {
  let clamd: ClamdServer;
  let plinth: TestPlinth;
  let project: TestProject;
  let user: ReturnType<TestProject['asSubject']>;
  let service: TestProject['service'];
  let storage: string;
  let js: string;
  beforeAll(async () => {
    clamd = await ClamdServer.create();
    await clamd.start();
    plinth = await TestPlinth.start({ env: { CLAMD_URL: `${clamd.url}?timeout=20` } });
    project = await plinth.createProject({ plan: 'enterprise' });
    user = project.asSubject();
    service = project.service;
    storage = project.storage;
    js = `/p/${project.slug}/storage/v1`;
    await user.post(`${storage}/buckets`, { name: 'box' });
  });
  afterAll(async () => {
    await plinth.stop();
    await clamd.remove();
  });
  // After each test, rows and bytes refer to the same objects.
  afterEach(() => expectBytesMatchRows(plinth, project));

  const set = (settings: object): Promise<HttpAnswer> =>
    plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings });
  const put = (name: string, content: Uint8Array = INFECTED, query = {}): Promise<HttpAnswer> =>
    upload(user, storage, 'box', content, { name, query });
  const list = async (
    client: TestProject['service'] = user,
    bucket = 'box',
  ): Promise<Record<string, unknown>[]> =>
    (await client.get(`${storage}/buckets/${bucket}/files?sortBy=filename&sortDir=asc`)).body.data;
  const names = async (): Promise<unknown[]> => (await list()).map(({ filename }) => filename);
  const metrics = async (): Promise<string> => (await plinth.admin.get('/metrics')).text;
  const infected = {
    error: { code: 'file_infected', message: expect.stringContaining(SIGNATURE), status: 422 },
  };

  const headers = (): Record<string, string> => ({
    apikey: project.anonKey,
    authorization: `Bearer ${project.token({ sub: user.userId, role: 'authenticated' })}`,
  });
  const raw = (
    method: string,
    path: string,
    more: Record<string, string>,
    body?: Buffer,
  ): Promise<Response> =>
    fetch(`${plinth.baseUrl}${path}`, {
      method,
      headers: { ...headers(), ...more },
      body: body && new Uint8Array(body),
    });
  const tus = { 'tus-resumable': '1.0.0' };
  const pairs = `bucketName ${btoa('box')},objectName ${btoa('tus')}`;
  async function begin(content: Buffer): Promise<string> {
    const begun = await raw('POST', `${js}/upload/resumable`, {
      ...tus,
      'upload-length': String(content.length),
      'upload-metadata': pairs,
    });
    expect(begun.status).toBe(201);
    return new URL(String(begun.headers.get('location')), plinth.baseUrl).pathname;
  }
  const send = (at: string, content: Buffer): Promise<Response> =>
    raw(
      'PATCH',
      at,
      { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      content,
    );

  async function s3Client(): Promise<S3Client> {
    const { body } = await plinth.admin.post(`/admin/v1/projects/${project.id}/s3-keys`, {});
    return new S3Client({
      endpoint: `${plinth.baseUrl}${js}/s3`,
      region: 'eu-x',
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: body.access_key_id, secretAccessKey: body.secret_access_key },
    });
  }

  it('refuses an infected file in every API, and nothing of it is visible', async () => {
    expect(await put('clean.txt', Buffer.from('clean'))).toMatchObject({ status: 201 });
    expect(await put('plain')).toMatchObject({ status: 422, body: infected });
    const js1 = await raw('POST', `${js}/object/box/js`, { 'content-type': 'text/plain' }, INFECTED);
    expect([js1.status, await js1.json()]).toEqual([
      422,
      { statusCode: '422', error: 'file_infected', message: expect.stringContaining(SIGNATURE) },
    ]);
    const signed = (await (await raw('POST', `${js}/object/upload/sign/box/signed`, {})).json()) as {
      url: string;
    };
    expect((await raw('PUT', `${js}${signed.url}`, { 'content-type': 'text/plain' }, INFECTED)).status).toBe(
      422,
    );
    const at = await begin(INFECTED);
    expect((await send(at, INFECTED)).status).toBe(422);
    // The parts are gone, so another attempt does not scan them again.
    expect((await raw('HEAD', at, tus)).status).toBe(404);
    const s3 = await s3Client();
    const denied = { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } };
    const to = { Bucket: 'box', Key: 's3' };
    await expect(s3.send(new PutObjectCommand({ ...to, Body: INFECTED }))).rejects.toMatchObject(denied);
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(to));
    const { ETag } = await s3.send(new UploadPartCommand({ ...to, UploadId, PartNumber: 1, Body: INFECTED }));
    const whole = { ...to, UploadId, MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] } };
    await expect(s3.send(new CompleteMultipartUploadCommand(whole))).rejects.toMatchObject(denied);
    expect(await names()).toEqual(['clean.txt']);
    expect(await metrics()).toMatch(/plinth_storage_scans_total\{result="infected"\} 6/);
  });

  it('keeps the old bytes of a file that an infected one would replace', async () => {
    expect((await put('clean.txt', INFECTED, { upsert: 'true' })).status).toBe(422);
    const [file] = await list();
    expect((await user.get(`${storage}/files/${String(file?.id)}/download`)).text).toBe('clean');
  });

  it('moves infected files to a quarantine that only the service role sees', async () => {
    await set({ infected_files: 'quarantine' });
    expect(await put('apart.txt')).toMatchObject({ status: 422, body: infected });
    expect((await send(await begin(INFECTED), INFECTED)).status).toBe(422);
    expect(await names()).toEqual(['clean.txt']);
    const kept = await list(service, QUARANTINE);
    const metadata = { bucket: 'box', signature: SIGNATURE, uploaded_by: user.userId };
    expect(kept.map((file) => file.metadata)).toEqual(
      expect.arrayContaining([
        { ...metadata, filename: 'apart.txt' },
        { ...metadata, filename: 'tus' },
      ]),
    );
    expect(kept).toHaveLength(2);
    expect(kept[0]).toMatchObject({ scan_result: SIGNATURE, owner_id: null });
    const id = String(kept[0]?.id);
    expect((await service.get(`${storage}/files/${id}/download`)).text).toBe(INFECTED.toString());
    for (const client of [user, project.anon]) {
      expect((await client.get(`${storage}/files/${id}`)).status).toBe(404);
      expect((await client.get(`${storage}/buckets/${QUARANTINE}/files`)).status).toBe(404);
    }
    expect((await upload(user, storage, QUARANTINE, 'mine')).status).toBe(404);
  });

  it('does not use a quarantine bucket that was made public', async () => {
    await service.patch(`${storage}/buckets/${QUARANTINE}`, { is_public: true });
    expect(await put('again.txt')).toMatchObject({ status: 422, body: infected });
    expect(await list(service, QUARANTINE)).toHaveLength(2);
  });

  it('marks infected files until their bytes are replaced, and their copies', async () => {
    await set({ infected_files: 'mark' });
    const { body } = await put('marked.txt');
    expect(body.data).toMatchObject({ filename: 'marked.txt', scan_result: SIGNATURE });
    const { id } = body.data;
    const record = { ...body.data, updated_at: expect.any(String) };
    expect((await user.get(`${storage}/files/${id}`)).body.data).toEqual(record);
    // A change of metadata or name keeps the mark.
    const changed = await user.patch(`${storage}/files/${id}`, {
      filename: 'moved.txt',
      metadata: { scan_result: '' },
    });
    expect(changed.body.data.scan_result).toBe(SIGNATURE);
    const copied = await raw(
      'POST',
      `${js}/object/copy`,
      { 'content-type': 'application/json' },
      Buffer.from(JSON.stringify({ bucketId: 'box', sourceKey: 'moved.txt', destinationKey: 'copied.txt' })),
    );
    expect(copied.status).toBe(200);
    const s3 = await s3Client();
    await s3.send(new CopyObjectCommand({ Bucket: 'box', Key: 's3-copy.txt', CopySource: 'box/moved.txt' }));
    const marks = async (): Promise<unknown[]> =>
      (await list()).map((file) => [file.filename, file.scan_result]);
    expect(await marks()).toEqual([
      ['clean.txt', undefined],
      ['copied.txt', SIGNATURE],
      ['moved.txt', SIGNATURE],
      ['s3-copy.txt', SIGNATURE],
    ]);
    expect(
      (await put('moved.txt', Buffer.from('clean'), { upsert: 'true' })).body.data.scan_result,
    ).toBeUndefined();
    expect((await marks())[2]).toEqual(['moved.txt', undefined]);
  });

  it('follows the setting of a bucket, which users cannot change', async () => {
    const scan = (value: string | null, client = service): Promise<HttpAnswer> =>
      client.patch(`${storage}/buckets/box`, { scan: value });
    await set({ infected_files: 'refuse' });
    expect((await scan('mark')).body.data.scan).toBe('mark');
    expect((await put('of-bucket.txt')).body.data.scan_result).toBe(SIGNATURE);
    await scan('off');
    expect((await put('not-scanned.txt')).body.data.scan_result).toBeUndefined();
    for (const value of ['refuse', null]) expect((await scan(value, user)).status).toBe(403);
    expect((await user.post(`${storage}/buckets`, { name: 'own', scan: 'off' })).status).toBe(403);
    expect((await user.patch(`${storage}/buckets/box`, { scan: 'off', is_public: false })).status).toBe(200);
    expect((await scan('none')).status).toBe(400);
    await scan('quarantine');
    const before = (await list(service, QUARANTINE)).length;
    await service.patch(`${storage}/buckets/${QUARANTINE}`, { is_public: false });
    expect((await put('kept-apart.txt')).status).toBe(422);
    expect(await list(service, QUARANTINE)).toHaveLength(before + 1);
    await set({ infected_files: 'mark' });
    await scan('refuse');
    expect((await put('refused.txt')).status).toBe(422);
    expect((await scan(null)).body.data.scan).toBe(null);
    expect((await put('of-project.txt')).body.data.scan_result).toBe(SIGNATURE);
    for (const name of ['of-bucket.txt', 'not-scanned.txt', 'of-project.txt']) {
      const file = (await list()).find(({ filename }) => filename === name);
      expect((await user.delete(`${storage}/files/${String(file?.id)}`)).status).toBe(200);
    }
  });

  it('adds an entry to the history for each finding, with bucket, signature and action', async () => {
    const findings = async (): Promise<unknown[]> => {
      const { body } = await plinth.admin.get(
        `/admin/v1/projects/${project.id}/history?search=${encodeURIComponent('virus scan')}`,
      );
      return (body as { path: string; error: string }[]).map(({ error }) => error);
    };
    await eventually(async () =>
      expect(await findings()).toEqual(
        expect.arrayContaining(['refuse', 'quarantine', 'mark'].map((done) => `${done}: ${SIGNATURE}`)),
      ),
    );
  });

  it('refuses a file that clamd does not read to the end, or accepts it with a mark', async () => {
    const large = randomBytes(STREAM_LIMIT + 1);
    expect(await put('large', large)).toMatchObject({
      status: 413,
      body: { error: { code: 'file_too_large' } },
    });
    await set({ unscanned_files: 'mark' });
    expect((await put('large', large)).body.data).toMatchObject({
      size: large.length,
      scan_result: 'unscanned',
    });
    expect((await put('fits', randomBytes(STREAM_LIMIT - 1))).body.data.scan_result).toBeUndefined();
  });

  it('refuses files while clamd is down, and later completes uploads whose bytes had all arrived', async () => {
    await set({ unscanned_files: 'refuse', infected_files: 'refuse' });
    await clamd.stop();
    const answer = await put('away');
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'storage_unavailable' } } });
    expect(answer.headers.get('retry-after')).toBe('10');
    const s3 = await s3Client();
    await expect(
      s3.send(new PutObjectCommand({ Bucket: 'box', Key: 'away', Body: 'clean' })),
    ).rejects.toMatchObject({ name: 'SlowDown', $metadata: { httpStatusCode: 503 } });
    const at = await begin(Buffer.from('clean'));
    expect((await send(at, Buffer.from('clean'))).status).toBe(503);
    await set({ unscanned_files: 'mark' });
    expect((await put('let-through')).body.data.scan_result).toBe('unscanned');
    await clamd.start();
    // All bytes of the upload had arrived, so the next request of the client completes it.
    expect((await raw('HEAD', at, tus)).status).toBe(200);
    expect(await names()).toContain('tus');
    await set({ unscanned_files: 'refuse' });
    expect((await put('away')).status).toBe(422);
  });
});

describe('a scanner that misbehaves', () => {
  const answers = ['', 'stream: OK', 'nonsense\0', 'x'.repeat(100_000)];

  it('refuses files when clamd is silent, ends early or answers nonsense, and scans at most four files of a project concurrently', async () => {
    let open = 0;
    let most = 0;
    let answer: string | null = null;
    const server = createServer((socket) => {
      most = Math.max(most, (open += 1));
      socket.on('error', () => undefined).on('close', () => (open -= 1));
      if (answer !== null) socket.end(answer);
      socket.resume();
    });
    const plinth = await TestPlinth.start();
    const path = join(plinth.dataDir, 'clamd.sock');
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const scanned = await TestPlinth.start({
      replicaOf: plinth,
      env: { CLAMD_URL: `unix:${path}?timeout=1` },
    });
    try {
      const project = await plinth.createProject({ plan: 'enterprise' });
      const client = project.service;
      await client.post(`${project.storage}/buckets`, { name: 'box' });
      const there = (name: string): Promise<Response> => {
        const form = new FormData();
        form.append('file', new Blob(['x']), name);
        return fetch(`${scanned.baseUrl}${project.storage}/buckets/box/upload`, {
          method: 'POST',
          headers: { apikey: project.serviceKey, authorization: `Bearer ${project.serviceKey}` },
          body: form,
        });
      };
      const silent = await Promise.all(
        Array.from({ length: 24 }, (_item, index) => there(`silent-${index}`)),
      );
      expect(new Set(silent.map(({ status }) => status))).toEqual(new Set([503]));
      // Four connections are open, and up to four more whose end clamd has not seen yet.
      expect(most).toBeLessThanOrEqual(8);
      for (answer of answers) expect((await there('odd')).status).toBe(503);
      expect((await client.get(`${project.storage}/buckets/box/files`)).body.data).toEqual([]);
      await expectBytesMatchRows(plinth, project);
      expect(filesOnDisk(plinth, project.id)).toEqual([]);
    } finally {
      await scanned.stop();
      await plinth.stop();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
