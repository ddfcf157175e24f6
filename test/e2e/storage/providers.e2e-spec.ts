/** The storage over HTTP on each provider: the core of the interface, deletion, the sweep, and an outage. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { ObjectAddress, ObjectStore } from '../../../src/storage/providers/object-store';
import { StorageSweep } from '../../../src/storage/sweep/storage-sweep.service';
import { eventually } from '../../support/eventually';
import { casesOf } from '../../support/extent';
import { HttpAnswer } from '../../support/http-client';
import { Fault } from '../../support/object-servers/object-server';
import { PROVIDERS, TestProvider } from '../../support/object-servers/object-stores';
import { TestPlinth } from '../../support/plinth';
import { startOn } from '../../support/plinth-on-provider';
import { TestProject } from '../../support/test-project';
import { rawExchange, upload } from '../../support/uploads';

const HOUR = 3_600;
const MIB = 1024 * 1024;
const LARGE = randomBytes(12 * MIB + 7);

/** The request by which each provider copies. */
const COPIES: Readonly<Record<string, Fault>> = {
  gcs: { method: 'POST', path: /\/rewriteTo\// },
  s3: { method: 'PUT' },
};

/** The disk, which the other files of this folder use, in the soak only. */
const [DISK, ...BUCKETS] = PROVIDERS;

describe.each(casesOf([...BUCKETS, DISK!], BUCKETS.length))('the storage on %s', (_name, startProvider) => {
  let provider: TestProvider;
  let plinth: TestPlinth;
  let project: TestProject;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ plinth, provider, stop } = await startOn(startProvider));
  });
  afterAll(() => stop());
  beforeEach(async () => {
    project = await plinth.createProject({ plan: 'enterprise' });
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  });

  const send = (content: string | Buffer, name: string, upsert = false): Promise<HttpAnswer> =>
    upload(project.service, project.storage, 'box', content, { name, query: { upsert: String(upsert) } });
  const names = (): string[] => provider.names().filter((name) => name.startsWith(project.id));

  async function sha256Of(filename: string): Promise<string> {
    const { body } = await project.service.get(`${project.storage}/buckets/box/files?search=${filename}`);
    return body.data[0].sha256;
  }

  async function download(id: string, range?: string): Promise<{ status: number; bytes: Buffer }> {
    const response = await fetch(`${plinth.baseUrl}${project.storage}/files/${id}/download`, {
      headers: { ...project.service.headers, ...(range ? { range } : {}) },
    });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  it('uploads and downloads, whole and in ranges', async () => {
    for (const content of [Buffer.from(''), Buffer.from('small'), LARGE]) {
      const { status, body } = await send(content, `file-${content.length}`);
      expect([status, body.data.size, body.data.sha256]).toEqual([201, content.length, digest(content)]);
      const whole = await download(body.data.id);
      expect([whole.status, digest(whole.bytes)]).toEqual([200, digest(content)]);
    }
    const { body } = await send(LARGE, 'ranges');
    for (const [start, end] of [
      [0, 99],
      [4 * MIB, 11 * MIB],
      [LARGE.length - 5, LARGE.length - 1],
    ] as const) {
      const part = await download(body.data.id, `bytes=${start}-${end}`);
      expect([part.status, digest(part.bytes)]).toEqual([206, digest(LARGE.subarray(start, end + 1))]);
    }
    expect(
      (await download(body.data.id, 'bytes=0-4,1000000-1000009')).bytes.includes(
        LARGE.subarray(1000000, 1000010),
      ),
    ).toBe(true);
  });

  it('serves the S3 protocol: objects, ranges, copies, joined parts, and aborted parts, whose bytes are removed', async () => {
    const { body: made } = await plinth.admin.post(`/admin/v1/projects/${project.id}/s3-keys`, {});
    const s3 = new S3Client({
      endpoint: `${plinth.baseUrl}/p/${project.slug}/storage/v1/s3`,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: made.access_key_id, secretAccessKey: made.secret_access_key },
    });
    const Bucket = 'box';
    const read = async (Key: string, Range?: string): Promise<string> => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }));
      return digest(Buffer.from(await Body!.transformToByteArray()));
    };
    for (const Body of [Buffer.from(''), Buffer.from('small'), LARGE]) {
      await s3.send(new PutObjectCommand({ Bucket, Key: 'object', Body }));
      expect(await read('object')).toBe(digest(Body));
    }
    expect(await read('object', 'bytes=4194304-11534335')).toBe(digest(LARGE.subarray(4 * MIB, 11 * MIB)));
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: 'box/object' }));
    expect(await read('copy')).toBe(digest(LARGE));

    const begin = (Key: string) => s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const joined = { Bucket, Key: 'joined', UploadId: (await begin('joined')).UploadId };
    const parts = [LARGE.subarray(0, 6 * MIB), LARGE.subarray(6 * MIB)];
    const sent = parts.map((Body, at) =>
      s3.send(new UploadPartCommand({ ...joined, PartNumber: at + 1, Body })),
    );
    const Parts = (await Promise.all(sent)).map(({ ETag }, at) => ({ PartNumber: at + 1, ETag }));
    provider.server?.reset();
    await s3.send(new CompleteMultipartUploadCommand({ ...joined, MultipartUpload: { Parts } }));
    // The provider joins the parts; the bytes are read for their hash, but not sent again.
    expect(provider.server?.receivedBytes ?? 0).toBeLessThan(MIB);
    expect(provider.server?.sentBytes ?? 0).toBeLessThanOrEqual(LARGE.length);
    expect(await read('joined')).toBe(digest(LARGE));
    expect(await sha256Of('joined')).toBe(digest(LARGE));

    const copied = { Bucket, Key: 'copied', UploadId: (await begin('copied')).UploadId };
    provider.server?.reset();
    const copyPart = async (PartNumber: number, CopySourceRange?: string): Promise<object> => {
      const source = { CopySource: 'box/joined', CopySourceRange };
      const { CopyPartResult } = await s3.send(
        new UploadPartCopyCommand({ ...copied, ...source, PartNumber }),
      );
      return { PartNumber, ETag: CopyPartResult?.ETag };
    };
    const copies = [await copyPart(1), await copyPart(2, 'bytes=5-1048580')];
    // The provider copies; GCS has no copies of ranges.
    expect(provider.server?.sentBytes ?? 0).toBeLessThanOrEqual(provider.name === 'gcs' ? MIB : 0);
    expect(provider.server?.receivedBytes ?? 0).toBeLessThan(1.1 * MIB);
    await s3.send(new CompleteMultipartUploadCommand({ ...copied, MultipartUpload: { Parts: copies } }));
    expect(await read('copied')).toBe(digest(Buffer.concat([LARGE, LARGE.subarray(5, MIB + 5)])));

    const aborted = { Bucket, Key: 'aborted', UploadId: (await begin('aborted')).UploadId };
    await s3.send(new UploadPartCommand({ ...aborted, PartNumber: 1, Body: LARGE }));
    await s3.send(new AbortMultipartUploadCommand(aborted));
    for (const Key of ['object', 'copy', 'joined', 'copied'])
      await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    await eventually(async () => expect(names()).toEqual([]));
  });

  it('receives the bytes of a resumable upload once, and reads none of them to join them', async () => {
    const url = `${plinth.baseUrl}/p/${project.slug}/storage/v1/upload/resumable`;
    const send = (method: string, at: string, headers: object, body?: Buffer): Promise<Response> =>
      fetch(at, {
        method,
        headers: { ...project.service.headers, 'tus-resumable': '1.0.0', ...headers },
        body: body && new Uint8Array(body),
      });
    provider.server?.reset();
    const begun = await send('POST', url, {
      'upload-length': String(LARGE.length),
      'upload-metadata': `bucketName ${btoa('box')},objectName ${btoa('resumed')}`,
    });
    const at = new URL(begun.headers.get('location') ?? '', plinth.baseUrl).href;
    for (let start = 0; start < LARGE.length; start += 5.5 * MIB) {
      const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(start) };
      const { status } = await send('PATCH', at, headers, LARGE.subarray(start, start + 5.5 * MIB));
      expect(status).toBe(204);
    }
    expect(provider.server?.receivedBytes ?? 0).toBeLessThan(LARGE.length + MIB);
    expect(provider.server?.sentBytes ?? 0).toBe(0);
    expect(await sha256Of('resumed')).toBe(digest(LARGE));
    const listed = await project.service.get(`${project.storage}/buckets/box/files`);
    expect(digest((await download(listed.body.data[0].id)).bytes)).toBe(digest(LARGE));
    await eventually(async () => expect(names()).toHaveLength(1));
  });

  it('takes a signed upload, and keeps the rendition of a picture with its file', async () => {
    const url = `${plinth.baseUrl}/p/${project.slug}/storage/v1`;
    const headers = project.service.headers;
    const { body: signed } = await project.service.post(
      `${project.storage}/v1/object/upload/sign/box/photo.jpg`,
    );
    const photo = await sharp({ create: { width: 80, height: 40, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    const sending = { method: 'PUT', headers: { 'content-type': 'image/jpeg' }, body: new Uint8Array(photo) };
    expect((await fetch(url + signed.url, sending)).status).toBe(200);
    expect(await sha256Of('photo.jpg')).toBe(digest(photo));
    const [render, source] = ['render/image/authenticated', 'object/authenticated'];
    const read = async (kind: string): Promise<Buffer> =>
      Buffer.from(await (await fetch(`${url}/${kind}/box/photo.jpg?width=20`, { headers })).arrayBuffer());
    const picture = await read(render);
    expect(await sharp(picture).metadata()).toMatchObject({ format: 'jpeg', width: 20, height: 10 });
    await eventually(async () => expect(names()).toHaveLength(2));
    expect([digest(await read(render)), digest(await read(source))]).toEqual([
      digest(picture),
      digest(photo),
    ]);
    expect(names()).toHaveLength(2);
  });

  it('overwrites, copies, moves and deletes, and removes bytes without a file', async () => {
    const first = (await send('one', 'file')).body.data;
    expect(names()).toHaveLength(1);
    const second = await send('two', 'file', true);
    expect([second.status, second.body.data.id]).toEqual([200, first.id]);
    const path = `${project.storage}/files/${first.id}`;
    const copy = await project.service.post(`${path}/copy`, { filename: 'copy' });
    expect(copy.status).toBe(201);
    expect((await project.service.patch(path, { filename: 'moved' })).status).toBe(200);
    expect((await download(first.id)).bytes.toString()).toBe('two');
    await eventually(async () => expect(names()).toHaveLength(2));
    expect((await project.service.delete(path)).status).toBe(200);
    await eventually(async () => expect(names()).toHaveLength(1));
    expect((await download(copy.body.data.id)).bytes.toString()).toBe('two');
    await project.service.post(`${project.storage}/files/bulk-delete`, { file_ids: [copy.body.data.id] });
    await eventually(async () => expect(names()).toEqual([]));
  });

  it('copies a file overwritten during the copy, and answers 404 for one deleted during it', async () => {
    // A copy on disk is atomic here.
    const { server } = provider;
    if (!server) return;
    const begun = () => eventually(() => Promise.resolve(expect(server.faultsLeft).toBe(0)));
    const delayed = { ...COPIES[provider.name], delay: 1_500 };
    const { id } = (await send('one', 'source')).body.data;
    const copy = (filename: string): Promise<HttpAnswer> =>
      project.service.post(`${project.storage}/files/${id}/copy`, { filename });
    const [before] = names();
    server.fail(delayed);
    const copying = copy('first');
    await begun();
    expect((await send('two', 'source', true)).status).toBe(200);
    await eventually(async () => expect(names()).not.toContain(before));
    const { status, body } = await copying;
    expect([status, (await download(body.data?.id)).bytes.toString()]).toEqual([201, 'two']);

    server.fail(delayed);
    const late = copy('second');
    await begun();
    expect((await project.service.delete(`${project.storage}/files/${id}`)).status).toBe(200);
    await eventually(async () => expect(names()).toHaveLength(1));
    expect(await late).toMatchObject({ status: 404, body: { error: { code: 'file_not_found' } } });
    expect(names()).toHaveLength(1);
  });

  it('keeps no bytes of a refused upload, nor of one whose client disconnects', async () => {
    await send('kept', 'file');
    expect((await send('again', 'file')).status).toBe(409);
    const head = [
      `POST ${project.storage}/buckets/box/upload HTTP/1.1`,
      'Host: plinth',
      ...Object.entries(project.service.headers).map(([name, value]) => `${name}: ${value}`),
      'Content-Type: multipart/form-data; boundary=x',
      'Content-Length: 20000000',
      '',
      '--x\r\nContent-Disposition: form-data; name="file"; filename="half"\r\n\r\n',
    ].join('\r\n');
    await rawExchange(plinth.baseUrl, Buffer.concat([Buffer.from(head), LARGE]), { end: true });
    await eventually(async () => expect([names().length, provider.unfinished()]).toEqual([1, 0]), 10_000);
  });

  it('sweeps bytes without a row, reports rows without bytes, and removes the bytes of a deleted project', async () => {
    const store = plinth.app.get(ObjectStore);
    const kept = (await send('kept', 'kept')).body.data;
    const lost = (await send('lost', 'lost')).body.data;
    const [{ object_id: objectId }] = await project.sql(
      `select object_id from storage.files where id = '${lost.id}'`,
    );
    await store.remove([new ObjectAddress(project.id, objectId)]);
    await store.put(new ObjectAddress(project.id, randomUUID()), once(Buffer.from('orphan')));
    plinth.clock.move(HOUR + 10);
    const admin = `/admin/v1/projects/${project.id}/storage`;
    const check = (await plinth.admin.get(`${admin}/check`)).body;
    expect(check).toMatchObject({
      objects: 2,
      bytes_without_row: { count: 1, size: 6 },
      rows_without_bytes: { count: 1, files: [{ id: lost.id, filename: 'lost' }] },
    });
    const swept = (await plinth.admin.post(`${admin}/sweep`)).body;
    expect(swept).toEqual({ removed_objects: 1, removed_uploads: 0, rows_without_bytes: 1 });
    plinth.clock.move(-HOUR - 10);
    expect((await download(kept.id)).bytes.toString()).toBe('kept');
    const metrics = (await plinth.admin.get('/metrics')).text;
    expect(metrics).toMatch(/^plinth_storage_bytes_without_row_total [1-9]/m);

    expect(names()).toHaveLength(1);
    await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
    plinth.clock.move(HOUR + 10);
    await plinth.app.get(StorageSweep).sweepAll();
    plinth.clock.move(-HOUR - 10);
    expect(names()).toEqual([]);
  });

  it('answers 500 storage_unavailable while the provider is down, leaves no partial state, and recovers without a restart', async () => {
    const before = (await send(LARGE, 'before')).body.data;
    const doomed = (await send('doomed', 'doomed')).body.data;
    await provider.goAway();
    try {
      for (const content of ['small', LARGE]) {
        const { status, body } = await send(content, 'meanwhile');
        expect([status, body.error.code]).toEqual([500, 'storage_unavailable']);
      }
      expect((await download(before.id)).status).toBe(500);
      const copy = await project.service.post(`${project.storage}/files/${before.id}/copy`, {
        filename: 'copy',
      });
      expect(copy.body.error.code).toBe('storage_unavailable');
      // A deletion needs no provider, because it deletes the row, and the sweep removes the bytes.
      expect((await project.service.delete(`${project.storage}/files/${doomed.id}`)).status).toBe(200);
    } finally {
      await provider.comeBack();
    }
    const listed = await project.service.get(`${project.storage}/buckets/box/files`);
    expect(listed.body.data.map(({ filename }: { filename: string }) => filename)).toEqual(['before']);
    expect(digest((await download(before.id)).bytes)).toBe(digest(LARGE));
    expect((await send(LARGE, 'after')).status).toBe(201);
    plinth.clock.move(HOUR + 10);
    await plinth.app.get(StorageSweep).sweepAll();
    plinth.clock.move(-HOUR - 10);
    expect(names()).toHaveLength(2);
    expect(provider.unfinished()).toBe(0);
  }, 90_000);
});

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
