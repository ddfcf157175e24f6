/** The S3 protocol, by an unmodified aws-sdk and by requests that no client sends. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketCorsCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetBucketCorsCommand,
  GetBucketLocationCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutBucketCorsCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { Readable } from 'node:stream';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { eventually } from '../../support/eventually';
import { freePort } from '../../support/plinth-process';
import { type S3Credentials, sha256, signS3 } from '../../support/s3-signature';
import type { HttpAnswer } from '../../support/http-client';
import type { TestProject } from '../../support/test-project';

const MIB = 1024 * 1024;

let plinth: TestPlinth;
let port: number;
let project: TestProject;
let other: TestProject;
let key: S3Credentials;
let s3: S3Client;

beforeAll(async () => {
  port = await freePort();
  plinth = await TestPlinth.start({ env: { S3_PORT: `127.0.0.1:${port}`, S3_HOST: 's3.test' } });
  [project, other] = await Promise.all([
    plinth.createProject({ plan: 'enterprise' }),
    plinth.createProject({ plan: 'enterprise' }),
  ]);
  key = await newKey();
  s3 = clientOf(key);
  await s3.send(new CreateBucketCommand({ Bucket: 'box' }));
});
afterAll(() => plinth.stop());

async function newKey(rights: object = {}, of = project): Promise<S3Credentials> {
  const { status, body } = await plinth.admin.post(`/admin/v1/projects/${of.id}/s3-keys`, rights);
  expect(status).toBe(201);
  return body;
}

const endpointOf = (of = project): string => `${plinth.baseUrl}/p/${of.slug}/storage/v1/s3`;

function clientOf(
  { access_key_id, secret_access_key }: S3Credentials,
  more: { endpoint?: string; sessionToken?: string } = {},
): S3Client {
  const { endpoint = endpointOf(), sessionToken } = more;
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key, sessionToken },
  });
}

const md5 = (bytes: Buffer | string): string => createHash('md5').update(bytes).digest('hex');
const put = (Key: string, Body: Buffer | string = 'x', more: object = {}) =>
  s3.send(new PutObjectCommand({ Bucket: 'box', Key, Body, ...more }));
const read = async (Key: string, more: object = {}, by = s3): Promise<Buffer> => {
  const { Body } = await by.send(new GetObjectCommand({ Bucket: 'box', Key, ...more }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
/** Name and status of the error. */
const fault = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: { name: string; $metadata?: { httpStatusCode?: number } }) =>
      `${error.name} ${error.$metadata?.httpStatusCode}`,
  );

describe('buckets', () => {
  it('are created, listed, found and deleted', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'second.bucket' }));
    const { Buckets = [] } = await s3.send(new ListBucketsCommand());
    expect(Buckets.map(({ Name }) => Name)).toEqual(expect.arrayContaining(['box', 'second.bucket']));
    await s3.send(new HeadBucketCommand({ Bucket: 'second.bucket' }));
    expect((await s3.send(new GetBucketLocationCommand({ Bucket: 'box' }))).LocationConstraint).toBeFalsy();
    await s3.send(new DeleteBucketCommand({ Bucket: 'second.bucket' }));
    expect(await fault(s3.send(new HeadBucketCommand({ Bucket: 'second.bucket' })))).toBe('NotFound 404');
    expect(await fault(s3.send(new DeleteBucketCommand({ Bucket: 'second.bucket' })))).toBe(
      'NoSuchBucket 404',
    );
  });

  it('have unique names that S3 allows, and are deleted only when they are empty', async () => {
    expect(await fault(s3.send(new CreateBucketCommand({ Bucket: 'Upper' })))).toBe('InvalidBucketName 400');
    expect(await fault(s3.send(new CreateBucketCommand({ Bucket: 'box' })))).toBe(
      'BucketAlreadyOwnedByYou 409',
    );
    await put('kept');
    expect(await fault(s3.send(new DeleteBucketCommand({ Bucket: 'box' })))).toBe('BucketNotEmpty 409');
  });
});

describe('objects', () => {
  it.each([
    ['a buffer', (): Buffer => randomBytes(300_000)],
    ['nothing', (): Buffer => Buffer.alloc(0)],
    ['5 MB', (): Buffer => randomBytes(5 * MIB)],
  ])('return %s unchanged', async (what, make) => {
    const bytes = make();
    const { ETag } = await put(`round/${what}`, bytes, {
      ContentType: 'application/x-test',
      Metadata: { year: '2026', name: 'Zoe' },
    });
    expect(ETag).toBe(`"${md5(bytes)}"`);
    const head = await s3.send(new HeadObjectCommand({ Bucket: 'box', Key: `round/${what}` }));
    expect(head).toMatchObject({
      ETag,
      ContentLength: bytes.length,
      ContentType: 'application/x-test',
      Metadata: { year: '2026' },
    });
    expect((await read(`round/${what}`)).equals(bytes)).toBe(true);
  });

  it('are streamed in chunks with a trailing checksum, signed or not', async () => {
    const bytes = randomBytes(MIB);
    for (const ChecksumAlgorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const) {
      const Body = Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)]);
      await put('streamed', Body as never, { ContentLength: bytes.length, ChecksumAlgorithm });
      expect((await read('streamed')).equals(bytes)).toBe(true);
    }
  });

  it('have ranges and conditions', async () => {
    const { ETag = '' } = await put('ranges', '0123456789');
    expect((await read('ranges', { Range: 'bytes=2-4' })).toString()).toBe('234');
    expect((await read('ranges', { Range: 'bytes=-3' })).toString()).toBe('789');
    expect(await fault(read('ranges', { Range: 'bytes=10-' }))).toBe('InvalidRange 416');
    expect((await read('ranges', { IfMatch: ETag })).toString()).toBe('0123456789');
    expect(await fault(read('ranges', { IfMatch: '"other"' }))).toBe('PreconditionFailed 412');
    expect(await fault(read('ranges', { IfNoneMatch: ETag }))).toMatch(/ 304$/);
    expect(await fault(put('ranges', 'new', { IfNoneMatch: '*' }))).toBe('PreconditionFailed 412');
    expect(await fault(put('ranges', 'new', { IfMatch: '"other"' }))).toBe('PreconditionFailed 412');
    expect(await fault(put('none', 'new', { IfMatch: '"other"' }))).toBe('NoSuchKey 404');
    await put('ranges', 'new', { IfMatch: ETag });
    expect((await read('ranges')).toString()).toBe('new');
    const first = put('ranges', 'a', { IfMatch: `"${md5('new')}"` });
    const second = put('ranges', 'b', { IfMatch: `"${md5('new')}"` });
    const outcomes = await Promise.all([fault(first), fault(second)]);
    expect(outcomes.sort()).toEqual(['PreconditionFailed 412', 'no error']);
  });

  it('are served with the type that the request names, and with 8 KiB of metadata', async () => {
    await put('typed', '<p>hello</p>', { ContentType: 'text/html' });
    const given = { Bucket: 'box', Key: 'typed' };
    const named = await s3.send(new GetObjectCommand({ ...given, ResponseContentType: 'text/csv' }));
    expect(named.ContentType).toBe('text/csv');
    const active = await fetch(
      await getSignedUrl(s3, new GetObjectCommand({ ...given, ResponseContentType: 'image/svg+xml' })),
    );
    expect([active.headers.get('content-type'), active.headers.get('content-security-policy')]).toEqual([
      'image/svg+xml',
      expect.stringContaining('sandbox'),
    ]);
    // An owner's SQL can write more metadata than a request can.
    await project.sql(`update storage.files set metadata = (select jsonb_object_agg('m' || n, repeat('x', 100))
      from generate_series(1, 5000) n) where filename = 'typed'`);
    const head = await s3.send(new HeadObjectCommand(given));
    const size = Object.entries(head.Metadata ?? {}).reduce((sum, pair) => sum + pair.join('').length, 0);
    expect(size).toBeLessThanOrEqual(8_192);
    expect(head.MissingMeta).toBe(5_000 - Object.keys(head.Metadata ?? {}).length);
  });

  it('are copied and tagged, with metadata that is kept or replaced', async () => {
    await put('source', 'bytes', { Metadata: { a: '1' }, Tagging: 'k=v&l=w', ContentType: 'text/x-old' });
    const copy = (Key: string, more: object = {}) =>
      s3.send(new CopyObjectCommand({ Bucket: 'box', Key, CopySource: 'box/source', ...more }));
    expect((await copy('copy é/1')).CopyObjectResult?.ETag).toBe(`"${md5('bytes')}"`);
    await copy('copy é/1');
    const head = await s3.send(new HeadObjectCommand({ Bucket: 'box', Key: 'copy é/1' }));
    expect(head).toMatchObject({
      Metadata: { a: '1' },
      ETag: `"${md5('bytes')}"`,
      ContentType: 'text/x-old',
    });
    const { TagSet } = await s3.send(new GetObjectTaggingCommand({ Bucket: 'box', Key: 'copy é/1' }));
    expect(TagSet).toEqual([
      { Key: 'k', Value: 'v' },
      { Key: 'l', Value: 'w' },
    ]);
    expect(await fault(copy('source'))).toBe('InvalidRequest 400');
    await copy('source', { MetadataDirective: 'REPLACE', Metadata: { b: '2' } });
    expect((await s3.send(new HeadObjectCommand({ Bucket: 'box', Key: 'source' }))).Metadata).toEqual({
      b: '2',
    });
    await s3.send(
      new PutObjectTaggingCommand({
        Bucket: 'box',
        Key: 'source',
        Tagging: { TagSet: [{ Key: '<&>', Value: '"' }] },
      }),
    );
    expect((await s3.send(new GetObjectTaggingCommand({ Bucket: 'box', Key: 'source' }))).TagSet).toEqual([
      { Key: '<&>', Value: '"' },
    ]);
    expect(await fault(copy('x', { CopySource: 'box/none' }))).toBe('NoSuchKey 404');
    expect(await fault(copy('x', { CopySourceIfMatch: '"other"' }))).toBe('PreconditionFailed 412');
  });

  it('are deleted, alone and together', async () => {
    await Promise.all(['d/1', 'd/2', 'd/<&> 3'].map((name) => put(name)));
    await s3.send(new DeleteObjectCommand({ Bucket: 'box', Key: 'd/1' }));
    await s3.send(new DeleteObjectCommand({ Bucket: 'box', Key: 'd/1' }));
    const Objects = ['d/2', 'd/<&> 3', 'd/none'].map((Key) => ({ Key }));
    const { Deleted = [] } = await s3.send(new DeleteObjectsCommand({ Bucket: 'box', Delete: { Objects } }));
    expect(Deleted.map(({ Key }) => Key)).toEqual(['d/2', 'd/<&> 3', 'd/none']);
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: 'box', Prefix: 'd/' }));
    expect(Contents).toBeUndefined();
  });

  it('of the other APIs are the same, with an entity tag that clients do not mistake for an MD5', async () => {
    const path = `/p/${project.slug}/storage/v1/object/box/from/js.txt` as const;
    await project.service.unchecked().post(path, 'hello', { headers: { 'content-type': 'text/plain' } });
    expect((await read('from/js.txt')).toString()).toBe('hello');
    const { ETag } = await s3.send(new HeadObjectCommand({ Bucket: 'box', Key: 'from/js.txt' }));
    expect(ETag).toMatch(/^"[0-9a-f]{32}-1"$/);
    await put('from/js.txt', 'by S3');
    expect((await s3.send(new HeadObjectCommand({ Bucket: 'box', Key: 'from/js.txt' }))).ETag).toBe(
      `"${md5('by S3')}"`,
    );
  });
});

describe('lists', () => {
  const NAMES = ['a', 'b/1', 'b/2', 'b/c/3', 'd', 'e/', 'f+ &<é', 'g//h'];
  beforeAll(async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'list' }));
    await Promise.all(NAMES.map((Key) => s3.send(new PutObjectCommand({ Bucket: 'list', Key, Body: Key }))));
  });

  async function pages(second: boolean, input: object): Promise<string[][]> {
    const found: string[][] = [];
    let next: string | undefined;
    do {
      const Bucket = 'list';
      const page = second
        ? await s3.send(new ListObjectsV2Command({ Bucket, ...input, ContinuationToken: next }))
        : await s3.send(
            new ListObjectsCommand({ Bucket, ...input, ...(next === undefined ? {} : { Marker: next }) }),
          );
      const names = (page.Contents ?? []).map(({ Key = '' }) => Key);
      found.push([...names, ...(page.CommonPrefixes ?? []).map(({ Prefix = '' }) => Prefix)]);
      const marker = 'NextMarker' in page ? page.NextMarker : undefined;
      next = page.IsTruncated
        ? 'NextContinuationToken' in page
          ? page.NextContinuationToken
          : (marker ?? names.at(-1))
        : undefined;
    } while (next !== undefined);
    return found;
  }

  it.each([true, false])('return all names, page by page (version 2: %s)', async (second) => {
    expect((await pages(second, {})).flat()).toEqual(NAMES);
    expect((await pages(second, { MaxKeys: 3 })).map((page) => page.length)).toEqual([3, 3, 2]);
    expect((await pages(second, { MaxKeys: 3 })).flat()).toEqual(NAMES);
    expect((await pages(second, { Prefix: 'b/' })).flat()).toEqual(['b/1', 'b/2', 'b/c/3']);
    expect((await pages(second, { MaxKeys: 0 })).flat()).toEqual([]);
  });

  it.each([true, false])('cut names off at a delimiter (version 2: %s)', async (second) => {
    const folders = { Delimiter: '/' };
    expect((await pages(second, folders))[0]).toEqual(['a', 'd', 'f+ &<é', 'b/', 'e/', 'g/']);
    expect((await pages(second, { ...folders, MaxKeys: 1 })).flat()).toEqual([
      'a',
      'b/',
      'd',
      'e/',
      'f+ &<é',
      'g/',
    ]);
    expect((await pages(second, { ...folders, Prefix: 'b/' })).flat()).toEqual(['b/1', 'b/2', 'b/c/']);
    expect((await pages(second, { ...folders, Prefix: 'e/' })).flat()).toEqual(['e/']);
    const atC = ['a', 'b/1', 'b/2', 'b/c', 'd', 'e/', 'f+ &<é', 'g//h'];
    expect((await pages(second, { Delimiter: 'c', MaxKeys: 1 })).flat()).toEqual(atC);
  });

  it('begin after a name, and encode names on request', async () => {
    const after = await s3.send(
      new ListObjectsV2Command({ Bucket: 'list', StartAfter: 'd', EncodingType: 'url' }),
    );
    expect(after.Contents?.map(({ Key }) => Key)).toEqual(['e/', 'f%2B%20%26%3C%C3%A9', 'g//h']);
    expect(after.KeyCount).toBe(3);
    expect(await fault(s3.send(new ListObjectsV2Command({ Bucket: 'list', ContinuationToken: 'x' })))).toBe(
      'InvalidArgument 400',
    );
    expect(await fault(s3.send(new ListObjectsV2Command({ Bucket: 'none' })))).toBe('NoSuchBucket 404');
  });
});

describe('multipart uploads', () => {
  const Bucket = 'box';
  const begin = async (Key: string, more: object = {}): Promise<string> =>
    (await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))).UploadId ?? '';
  const part = async (Key: string, UploadId: string, PartNumber: number, Body: Buffer | string, by = s3) => {
    const { ETag } = await by.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
    return { ETag, PartNumber };
  };
  const complete = (Key: string, UploadId: string, Parts: object[], by = s3) =>
    by.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));

  it('join their parts in any order of arrival, and use only the last version of a part', async () => {
    const Key = 'multi é';
    const [first, second, last] = [randomBytes(5 * MIB), randomBytes(5 * MIB), randomBytes(1_000)];
    const id = await begin(Key, { ContentType: 'application/x-test', Metadata: { a: '1' } });
    const three = await part(Key, id, 7, last);
    await part(Key, id, 2, 'replaced');
    const two = await part(Key, id, 2, second);
    const one = await part(Key, id, 1, first);
    await part(Key, id, 9, 'not chosen');
    expect(one.ETag).toBe(`"${md5(first)}"`);
    const listed = await s3.send(new ListPartsCommand({ Bucket, Key, UploadId: id, MaxParts: 2 }));
    expect(listed.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size])).toEqual([
      [1, 5 * MIB],
      [2, 5 * MIB],
    ]);
    expect([listed.IsTruncated, listed.NextPartNumberMarker]).toEqual([true, '2']);
    const { Uploads } = await s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'multi' }));
    expect(Uploads?.map((upload) => [upload.Key, upload.UploadId])).toEqual([[Key, id]]);
    const done = await complete(Key, id, [one, two, three]);
    const parts = Buffer.concat(
      [first, second, last].map((bytes) => createHash('md5').update(bytes).digest()),
    );
    expect(done.ETag).toBe(`"${md5(parts)}-3"`);
    expect((await read(Key)).equals(Buffer.concat([first, second, last]))).toBe(true);
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ETag: done.ETag, Metadata: { a: '1' }, ContentType: 'application/x-test' });
    // A client repeats the request if the response was lost.
    expect((await complete(Key, id, [one, two, three])).ETag).toBe(done.ETag);
    expect(await fault(part(Key, id, 1, 'late'))).toBe('NoSuchUpload 404');
  });

  it('must be retried while another request completes them', async () => {
    const Key = 'held';
    const id = await begin(Key);
    const one = await part(Key, id, 1, 'x');
    const hold = (until: string) =>
      project.sql(`update storage.resumable_uploads set joining_until = ${until} where id = '${id}'`);
    await hold(`now() + interval '1 hour'`);
    expect(await fault(complete(Key, id, [one]))).toBe('SlowDown 503');
    await hold('null');
    expect((await complete(Key, id, [one])).Key).toBe(Key);
  });

  it('copy parts from other objects', async () => {
    await put('whole', Buffer.alloc(6 * MIB, 7));
    const [Key, CopySource] = ['copied', 'box/whole'];
    const UploadId = await begin(Key);
    const copy = async (PartNumber: number, CopySourceRange?: string) => {
      const command = new UploadPartCopyCommand({
        Bucket,
        Key,
        UploadId,
        PartNumber,
        CopySource,
        CopySourceRange,
      });
      return { PartNumber, ETag: (await s3.send(command)).CopyPartResult?.ETag };
    };
    const parts = [await copy(1), await copy(2, 'bytes=0-99')];
    expect(await fault(copy(3, `bytes=0-${6 * MIB}`))).toBe('InvalidRange 416');
    await complete(Key, UploadId, parts);
    expect((await read(Key)).equals(Buffer.alloc(6 * MIB + 100, 7))).toBe(true);
  });

  it('refuse wrong parts, and end when they are aborted', async () => {
    const Key = 'refused';
    const id = await begin(Key);
    const [small, second] = [await part(Key, id, 1, 'small'), await part(Key, id, 2, 'other')];
    expect(await fault(complete(Key, id, [small, second]))).toBe('EntityTooSmall 400');
    expect(await fault(complete(Key, id, [second, small]))).toBe('InvalidPartOrder 400');
    expect(await fault(complete(Key, id, [{ ...small, ETag: '"x"' }]))).toBe('InvalidPart 400');
    expect(await fault(complete(Key, id, [{ ...small, PartNumber: 3 }]))).toBe('InvalidPart 400');
    expect(await fault(complete(Key, id, []))).toBe('MalformedXML 400');
    for (const number of [0, 10_001])
      expect(await fault(part(Key, id, number, 'x'))).toBe('InvalidArgument 400');
    expect(await fault(part('another', id, 1, 'x'))).toBe('NoSuchUpload 404');
    expect(await fault(part(Key, randomUUID(), 1, 'x'))).toBe('NoSuchUpload 404');
    const foreign = clientOf(await newKey({}, other), { endpoint: endpointOf(other) });
    await foreign.send(new CreateBucketCommand({ Bucket })).catch(() => undefined);
    expect(await fault(part(Key, id, 1, 'x', foreign))).toBe('NoSuchUpload 404');
    await s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId: id }));
    expect(await fault(complete(Key, id, [small]))).toBe('NoSuchUpload 404');
    expect(await fault(read(Key))).toBe('NoSuchKey 404');
  });
});

describe('keys', () => {
  it('are refused for another project, after they expire, and with another secret', async () => {
    const foreign = clientOf(await newKey({}, other));
    expect(await fault(foreign.send(new ListBucketsCommand()))).toBe('InvalidAccessKeyId 403');
    const ended = await newKey();
    await clientOf(ended).send(new ListBucketsCommand());
    await plinth.admin.delete(`/admin/v1/projects/${project.id}/s3-keys/${ended.access_key_id}`);
    expect(await fault(clientOf(ended).send(new ListBucketsCommand()))).toBe('InvalidAccessKeyId 403');
    const lastUse = async (id: string): Promise<unknown> => {
      const keys = await plinth.admin.get(`/admin/v1/projects/${project.id}/s3-keys`);
      return keys.body.find((one: { access_key_id: string }) => one.access_key_id === id)?.last_used_at;
    };
    const fresh = await newKey();
    await fault(clientOf({ ...fresh, secret_access_key: 'x'.repeat(43) }).send(new ListBucketsCommand()));
    expect(await lastUse(fresh.access_key_id)).toBeNull();
    await clientOf(fresh).send(new ListBucketsCommand());
    expect(await lastUse(fresh.access_key_id)).toMatch(/^\d{4}-/);
    const forged = clientOf({ ...key, secret_access_key: 'x'.repeat(43) });
    expect(await fault(forged.send(new ListBucketsCommand()))).toBe('SignatureDoesNotMatch 403');
    const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/s3-keys`);
    expect(JSON.stringify(body)).not.toContain(key.secret_access_key);
  });

  it('end with the grace period of a rotation that includes them, like the keys of the project', async () => {
    const own = await plinth.createProject();
    const list = (one: S3Credentials): Promise<string> =>
      clientOf(one, { endpoint: endpointOf(own) })
        .send(new ListBucketsCommand())
        .then(
          () => 'works',
          (error: { name: string }) => error.name,
        );
    const path = `/admin/v1/projects/${own.id}`;
    const [old, ofUser] = [await newKey({}, own), await newKey({ user_id: (await own.signUp()).id }, own)];
    const rotate = (body: object): Promise<HttpAnswer> => plinth.admin.post(`${path}/keys/rotate`, body);
    const secret = await plinth.admin.post(`${path}/api-keys`, { name: 'named', kind: 'secret' });
    const named = async (): Promise<number> =>
      (await own.client(secret.body.key, secret.body.key).get(`${own.storage}/buckets`)).status;
    await rotate({ grace_seconds: 600, end_named_keys: true });
    const made = await newKey({}, own);
    expect(await Promise.all([old, ofUser, made].map(list))).toEqual(['works', 'works', 'works']);
    expect(await named()).toBe(200);
    const { body } = await plinth.admin.get(`${path}/s3-keys`);
    expect(body).toMatchObject([
      { expires_at: expect.any(String) },
      { expires_at: expect.any(String) },
      { expires_at: null },
    ]);
    plinth.clock.move(601);
    expect(await Promise.all([old, ofUser].map(list))).toEqual(['InvalidAccessKeyId', 'InvalidAccessKeyId']);
    expect(await named()).toBe(401);
    plinth.clock.move(-601);
    await rotate({ only: 'signing_keys', end_named_keys: true });
    await rotate({ grace_seconds: 0 });
    expect(await list(made)).toBe('works');
    await rotate({ grace_seconds: 0, end_named_keys: true });
    expect(await Promise.all([old, made].map(list))).toEqual(['InvalidAccessKeyId', 'InvalidAccessKeyId']);
    expect((await plinth.admin.get(`${path}/s3-keys`)).body).toEqual([]);
  });

  it('can be limited to reading, or to one bucket', async () => {
    await put('shared');
    const reader = clientOf(await newKey({ read_only: true }));
    expect((await read('shared', {}, reader)).toString()).toBe('x');
    expect(await fault(reader.send(new PutObjectCommand({ Bucket: 'box', Key: 'y', Body: 'y' })))).toBe(
      'AccessDenied 403',
    );
    expect(await fault(reader.send(new DeleteObjectCommand({ Bucket: 'box', Key: 'shared' })))).toBe(
      'AccessDenied 403',
    );
    const bound = clientOf(await newKey({ bucket: 'list' }));
    expect((await bound.send(new ListBucketsCommand())).Buckets?.map(({ Name }) => Name)).toEqual(['list']);
    expect(await fault(read('shared', {}, bound))).toBe('AccessDenied 403');
    const copy = new CopyObjectCommand({ Bucket: 'list', Key: 'stolen', CopySource: 'box/shared' });
    expect(await fault(bound.send(copy))).toBe('AccessDenied 403');
  });

  it('of a user, and session tokens, are subject to the policies', async () => {
    await project.sql(`create policy own on storage.files for all to authenticated
      using (owner_id = auth.uid()) with check (owner_id = auth.uid());
      create policy seen on storage.buckets for select to authenticated using (true)`);
    const [ann, bob] = await Promise.all([project.signUp(), project.signUp()]);
    await put('of the service');
    const anon: S3Credentials = { access_key_id: project.slug, secret_access_key: project.anonKey };
    const clients = [
      clientOf(await newKey({ user_id: ann.id })),
      clientOf(key, { sessionToken: ann.accessToken }),
      clientOf(anon, { sessionToken: ann.accessToken }),
    ];
    for (const [index, client] of clients.entries()) {
      await client.send(new PutObjectCommand({ Bucket: 'box', Key: `ann/${index}`, Body: 'hers' }));
      expect(await fault(read('of the service', {}, client))).toBe('NoSuchKey 404');
      const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'box' }));
      expect(Contents?.every(({ Key }) => Key?.startsWith('ann/'))).toBe(true);
    }
    const his = clientOf(key, { sessionToken: bob.accessToken });
    expect(await fault(read('ann/0', {}, his))).toBe('NoSuchKey 404');
    expect(await fault(clientOf(anon).send(new ListBucketsCommand()))).toBe('AccessDenied 403');
    expect(await fault(clientOf(key, { sessionToken: 'a.b.c' }).send(new ListBucketsCommand()))).toBe(
      'InvalidToken 400',
    );
    const none = clientOf(await newKey({ user_id: randomUUID() }));
    expect(await fault(none.send(new ListBucketsCommand()))).toBe('AccessDenied 403');
  });
});

describe('presigned addresses', () => {
  it('read and write while they are valid', async () => {
    const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket: 'box', Key: 'pre signed/é' }), {
      expiresIn: 60,
    });
    expect((await fetch(url, { method: 'PUT', body: 'sent' })).status).toBe(200);
    const get = await getSignedUrl(s3, new GetObjectCommand({ Bucket: 'box', Key: 'pre signed/é' }), {
      expiresIn: 60,
    });
    expect(await (await fetch(get)).text()).toBe('sent');
    const named = new GetObjectCommand({
      Bucket: 'box',
      Key: 'pre signed/é',
      ResponseContentDisposition: 'attachment; filename="a"',
    });
    const shown = await fetch(await getSignedUrl(s3, named));
    expect(shown.headers.get('content-disposition')).toBe('attachment; filename="a"');
    const old = { expiresIn: 60, signingDate: new Date(Date.now() - 120_000) };
    const late = await fetch(
      await getSignedUrl(s3, new GetObjectCommand({ Bucket: 'box', Key: 'kept' }), old),
    );
    expect([late.status, await late.text()]).toEqual([
      403,
      expect.stringContaining('<Code>AccessDenied</Code>'),
    ]);
    for (const changed of [
      get.replace('pre%20signed', 'kept'),
      get.replace('X-Amz-Expires=60', 'X-Amz-Expires=61'),
      `${get}&list-type=2`,
    ])
      expect((await fetch(changed)).status).toBe(403);
    expect((await fetch(get, { headers: { 'x-amz-copy-source': 'box/kept' } })).status).toBe(403);
    expect((await fetch(get, { method: 'DELETE' })).status).toBe(403);
  });
});

describe('S3_PORT and S3_HOST', () => {
  it('serve the project of the access key at the root, and buckets as names', async () => {
    const endpoint = `http://127.0.0.1:${port}`;
    const root = clientOf(key, { endpoint });
    await root.send(new PutObjectCommand({ Bucket: 'box', Key: 'root//é', Body: 'at the root' }));
    expect((await read('root//é')).toString()).toBe('at the root');
    const url = await getSignedUrl(root, new GetObjectCommand({ Bucket: 'box', Key: 'root//é' }));
    expect(await (await fetch(url)).text()).toBe('at the root');
    const foreign = clientOf(await newKey({}, other), { endpoint });
    expect((await foreign.send(new ListBucketsCommand())).Buckets ?? []).not.toContainEqual(
      expect.objectContaining({ Name: 'list' }),
    );
    const nobody = clientOf({ access_key_id: 'nobody', secret_access_key: 'x' }, { endpoint });
    expect(await fault(nobody.send(new ListBucketsCommand()))).toBe('InvalidAccessKeyId 403');
    const open = await fetch(`${endpoint}/box/kept`);
    expect([open.status, open.headers.get('content-type')]).toEqual([403, 'application/xml']);
    const httpAgent = new Agent({
      lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    for (const listener of [port, new URL(plinth.baseUrl).port]) {
      const named = new S3Client({
        endpoint: `http://s3.test:${listener}`,
        region: 'us-east-1',
        maxAttempts: 1,
        requestHandler: { httpAgent },
        credentials: { accessKeyId: key.access_key_id, secretAccessKey: key.secret_access_key },
      });
      expect((await read('root//é', {}, named)).toString()).toBe('at the root');
      expect((await named.send(new ListBucketsCommand())).Buckets).toContainEqual(
        expect.objectContaining({ Name: 'box' }),
      );
    }
    httpAgent.destroy();
  });
});

async function cli(...args: string[]): Promise<string> {
  let [out, err] = ['', ''];
  const environment = cliEnvironment({
    connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  expect([await runCli(args, environment), err]).toEqual([0, '']);
  return out;
}

it('plinth s3-keys manages the keys', async () => {
  const options = ['--name', 'shell', '--bucket', 'box', '--read-only', '--json'];
  const made = JSON.parse(await cli('s3-keys', 'create', project.slug, ...options));
  expect(made).toMatchObject({ name: 'shell', bucket: 'box', read_only: true, user_id: null });
  await put('by the shell');
  expect((await read('by the shell', {}, clientOf(made))).toString()).toBe('x');
  const listed = await cli('s3-keys', 'list', project.slug);
  expect([listed.includes(made.access_key_id), listed.includes(made.secret_access_key)]).toEqual([
    true,
    false,
  ]);
  expect(await cli('s3-keys', 'delete', project.slug, made.access_key_id)).toContain('is deleted');
  expect(await fault(read('by the shell', {}, clientOf(made)))).toBe('InvalidAccessKeyId 403');
});

describe('hostile requests', () => {
  interface Raw {
    readonly body?: string;
    /** x-amz-content-sha256; default: the hash of the body. */
    readonly payload?: string;
    readonly at?: number;
    readonly signed?: Record<string, string>;
    /** Added after the signature. */
    readonly added?: Record<string, string>;
    /** Additional names in SignedHeaders. */
    readonly repeated?: readonly string[];
    /** Makes the body from the signature of the head. */
    readonly chunks?: (seed: string, sign: (...lines: string[]) => string) => string;
  }

  /** @param below path and sorted query, encoded */
  async function send(method: string, below: string, raw: Raw = {}): Promise<[status: number, code: string]> {
    const { body = '', payload = sha256(body), added = {}, chunks, ...rest } = raw;
    const target = `/p/${project.slug}/storage/v1/s3${below}`;
    const { host, origin } = new URL(plinth.baseUrl);
    const { headers, signature, sign } = signS3(key, { method, host, target, payload, ...rest });
    const response = await fetch(origin + target, {
      method,
      headers: { ...headers, ...added },
      ...(method === 'GET' ? {} : { body: chunks?.(signature, sign) ?? body }),
    });
    const text = await response.text();
    return [response.status, /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? ''];
  }

  it('with changed or unsigned headers, another time or another body are refused', async () => {
    expect(await send('PUT', '/box/raw', { body: 'x' })).toEqual([200, '']);
    const skewed = { body: 'x', at: Date.now() - 16 * 60_000 };
    expect(await send('PUT', '/box/raw', skewed)).toEqual([403, 'RequestTimeTooSkewed']);
    expect(await send('PUT', '/box/raw', { ...skewed, at: Date.now() + 16 * 60_000 })).toEqual([
      403,
      'RequestTimeTooSkewed',
    ]);
    const changed = { body: 'x', signed: { 'x-amz-meta-a': '1' }, added: { 'x-amz-meta-a': '2' } };
    expect(await send('PUT', '/box/raw', changed)).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await send('PUT', '/box/raw', { added: { 'x-amz-copy-source': 'box/kept' } })).toEqual([
      403,
      'AccessDenied',
    ]);
    const other = { body: 'other', payload: sha256('signed') };
    expect(await send('PUT', '/box/raw', other)).toEqual([400, 'XAmzContentSHA256Mismatch']);
    expect(await send('PUT', '/box/raw', { body: 'x', signed: { 'content-md5': md5('y') } })).toEqual([
      400,
      'InvalidDigest',
    ]);
    const digest = Buffer.from(md5('y'), 'hex').toString('base64');
    expect(await send('PUT', '/box/raw', { body: 'x', signed: { 'content-md5': digest } })).toEqual([
      400,
      'BadDigest',
    ]);
    expect(
      await send('PUT', '/box/raw', { body: 'x', signed: { 'x-amz-checksum-crc32': 'AAAAAA==' } }),
    ).toEqual([400, 'BadDigest']);
    expect((await read('raw')).toString()).toBe('x');
  });

  it('with a header listed many times in SignedHeaders are refused before it is hashed', async () => {
    expect(await send('GET', '/box', { repeated: ['host'] })).toEqual([400, 'AuthorizationHeaderMalformed']);
    const forged = { repeated: Array<string>(10_000).fill('a'), added: { a: 'x'.repeat(8_000) } };
    expect(await send('GET', '/box', forged)).toEqual([400, 'AuthorizationHeaderMalformed']);
  });

  it('with chunks that are changed, out of order or cut off leave no file', async () => {
    const payload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
    const signed = { 'x-amz-decoded-content-length': '10', 'content-encoding': 'aws-chunked' };
    const chunked =
      (order: (chunks: string[]) => string[]): Raw['chunks'] =>
      (seed, sign) => {
        let before = seed;
        const chunks = ['01234', '56789', ''].map((text) => {
          before = sign('AWS4-HMAC-SHA256-PAYLOAD', before, sha256(''), sha256(text));
          return `${text.length.toString(16)};chunk-signature=${before}\r\n${text}\r\n`;
        });
        return order(chunks).join('');
      };
    const chunks = (order: (given: string[]) => string[]): Raw => ({
      payload,
      signed,
      chunks: chunked(order),
    });
    expect(
      await send(
        'PUT',
        '/box/chunks',
        chunks((all) => all),
      ),
    ).toEqual([200, '']);
    expect((await read('chunks')).toString()).toBe('0123456789');
    for (const [order, outcome] of [
      [([a = '', b = '', c = '']: string[]) => [b, a, c], [403, 'SignatureDoesNotMatch']],
      [
        ([a = '', b = '', c = '']: string[]) => [a, b.replace('56789', '56780'), c],
        [403, 'SignatureDoesNotMatch'],
      ],
      [([a = '', , c = '']: string[]) => [a, c], [403, 'SignatureDoesNotMatch']],
      [([a = '', b = '']: string[]) => [a, b], [400, 'IncompleteBody']],
      [() => ['zz\r\n'], [400, 'IncompleteBody']],
      [() => ['fffffffff\r\n'], [400, 'IncompleteBody']],
      [() => ['5\r\n01234\r\n'], [400, 'IncompleteBody']],
      [() => ['x'.repeat(100_000)], [400, 'IncompleteBody']],
    ] as [(all: string[]) => string[], [number, string]][])
      expect(await send('PUT', '/box/bad chunks'.replace(' ', '%20'), chunks(order))).toEqual(outcome);
    const longer = { ...chunks((all) => all), signed: { ...signed, 'x-amz-decoded-content-length': '11' } };
    expect(await send('PUT', '/box/bad%20chunks', longer)).toEqual([400, 'IncompleteBody']);
    expect(await fault(read('bad chunks'))).toBe('NoSuchKey 404');
  });

  it('with a trailer whose signature or checksum is wrong, or missing, leave no file', async () => {
    const put = (
      trailer: string,
      digest: string,
      mark = (signature: string) => `x-amz-trailer-signature:${signature}\r\n`,
    ) =>
      send('PUT', '/box/trailer', {
        payload: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
        signed: {
          'x-amz-decoded-content-length': '10',
          'content-encoding': 'aws-chunked',
          'x-amz-trailer': 'x-amz-checksum-crc32',
        },
        chunks: (seed, sign) => {
          let before = seed;
          const chunks = ['0123456789', ''].map((text) => {
            before = sign('AWS4-HMAC-SHA256-PAYLOAD', before, sha256(''), sha256(text));
            return `${text.length.toString(16)};chunk-signature=${before}\r\n${text}${text && '\r\n'}`;
          });
          const signature = sign('AWS4-HMAC-SHA256-TRAILER', before, sha256(`${trailer}\n`));
          return `${chunks.join('')}x-amz-checksum-crc32:${digest}\r\n${mark(signature)}\r\n`;
        },
      });
    const right = 'poTHxg==';
    const line = `x-amz-checksum-crc32:${right}`;
    expect(await put('x-amz-checksum-crc32:AAAAAA==', right)).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await put(line, 'AAAAAA==')).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await put(line, right, () => 'x-amz-trailer-signature:\r\n')).toEqual([
      403,
      'SignatureDoesNotMatch',
    ]);
    expect(await put(line, right, () => '')).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await put('x-amz-checksum-crc32:AAAAAA==', 'AAAAAA==')).toEqual([400, 'BadDigest']);
    expect(await fault(read('trailer'))).toBe('NoSuchKey 404');
    expect(await put(line, right)).toEqual([200, '']);
    expect((await read('trailer')).toString()).toBe('0123456789');
  });

  it('with keys that no file can have are refused', async () => {
    for (const [target, outcome] of [
      ['/box/a%2F..%2Fb', [400, 'InvalidArgument']],
      ['/box/a%00b', [404, 'NoSuchKey']],
      ['/box/a%0Ab', [400, 'InvalidArgument']],
      [`/box/${'x'.repeat(1_025)}`, [400, 'KeyTooLongError']],
      [`/box/${'x'.repeat(1_024)}`, [200, '']],
      ['/box/%2F%2Fdouble', [200, '']],
      ['/..%2Fother/x', [404, 'NoSuchBucket']],
      ['/box?acl=', [501, 'NotImplemented']],
    ] as const)
      expect([target, ...(await send('PUT', target, { body: 'x' }))]).toEqual([target, ...outcome]);
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: 'box', Prefix: '//' }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(['//double']);
  });

  it('with XML that is malformed, deep, or defines entities are refused', async () => {
    const lol = `<!DOCTYPE d [<!ENTITY a "${'x'.repeat(100)}"><!ENTITY b "${'&a;'.repeat(100)}">]><Delete><Object><Key>&b;</Key></Object></Delete>`;
    for (const body of [
      '',
      'x',
      '<Delete>',
      '<Delete></Other>',
      '<Other></Other>',
      lol,
      '<Delete>'.repeat(100_000),
      `<Delete>${'<a/>'.repeat(200_000)}</Delete>`,
      `<Delete><Object><Key>${'&#1114112;'}</Key></Object></Delete>`,
      `<Delete>${'<Object><Key>a</Key></Object>'.repeat(1_001)}</Delete>`,
      '<Delete><Object></Object></Delete>',
      `<Delete><Object><Key>a</Key></Object>${'<a/>'.repeat(100_000)}</Delete>`,
      `<Delete><Object><Key>a</Key></Object>${' '.repeat(20_000)}</Delete>`,
    ])
      expect([body.slice(0, 60), ...(await send('POST', '/box?delete=', { body }))]).toEqual([
        body.slice(0, 60),
        400,
        'MalformedXML',
      ]);
    const large = `<Delete>${' '.repeat(3 * MIB)}</Delete>`;
    expect(await send('POST', '/box?delete=', { body: large })).toEqual([400, 'EntityTooLarge']);
  });
});

describe('CORS of buckets', () => {
  const RULES = {
    CORSRules: [
      {
        ID: 'shop',
        AllowedOrigins: ['https://*.shop.example'],
        AllowedMethods: ['GET', 'PUT'],
        AllowedHeaders: ['x-amz-*', 'content-type'],
        ExposeHeaders: ['ETag'],
        MaxAgeSeconds: 600,
      },
    ],
  };
  const preflight = (origin: string, method: string, headers = '', bucket = 'cors') =>
    fetch(`${endpointOf()}/${bucket}/file`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        ...(headers && { 'access-control-request-headers': headers }),
      },
    });

  beforeAll(() => s3.send(new CreateBucketCommand({ Bucket: 'cors' })));

  it('stores, shows and removes the rules, and allows every origin without rules', async () => {
    const show = () => s3.send(new GetBucketCorsCommand({ Bucket: 'cors' }));
    await expect(show()).rejects.toMatchObject({ name: 'NoSuchCORSConfiguration' });
    expect(
      (await preflight('https://any.example', 'DELETE')).headers.get('access-control-allow-origin'),
    ).toBe('*');
    await s3.send(new PutBucketCorsCommand({ Bucket: 'cors', CORSConfiguration: RULES }));
    expect((await show()).CORSRules).toEqual(RULES.CORSRules);

    const allowed = await preflight('https://eu.shop.example', 'PUT', 'x-amz-date, Content-Type');
    expect(allowed.status).toBe(200);
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      'access-control-allow-origin': 'https://eu.shop.example',
      'access-control-allow-methods': 'GET,PUT',
      'access-control-allow-headers': 'x-amz-date,Content-Type',
      'access-control-expose-headers': 'ETag',
      'access-control-max-age': '600',
      'x-ratelimit-limit': expect.any(String),
    });
    for (const [origin, method, headers] of [
      ['https://shop.example.evil', 'PUT'],
      ['https://eu.shop.example', 'DELETE'],
      ['https://eu.shop.example', 'PUT', 'x-other'],
      ['https://eu.shop.example', 'PUT', 'x-amz-date,'.repeat(51)],
    ] as const) {
      const refused = await preflight(origin, method, headers);
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining('AccessForbidden'),
      ]);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
    const other = await preflight('https://any.example', 'DELETE', '', 'box');
    expect(other.headers.get('access-control-allow-origin')).toBe('*');

    await s3.send(new PutObjectCommand({ Bucket: 'cors', Key: 'file', Body: 'x' }));
    const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket: 'cors', Key: 'file' }));
    const from = async (origin: string) =>
      (await fetch(url, { headers: { origin } })).headers.get('access-control-allow-origin');
    expect(await from('https://eu.shop.example')).toBe('https://eu.shop.example');
    expect(await from('https://evil.example')).toBeNull();

    await s3.send(new DeleteBucketCorsCommand({ Bucket: 'cors' }));
    await expect(show()).rejects.toMatchObject({ name: 'NoSuchCORSConfiguration' });
    expect(await from('https://evil.example')).toBe('*');
  });

  it('refuses rules that a header cannot hold, and ignores altered rules', async () => {
    const rule = RULES.CORSRules[0];
    for (const wrong of [
      { AllowedMethods: ['PATCH'] },
      { AllowedOrigins: ['https://*.*'] },
      { ExposeHeaders: ['a\nb'] },
      { MaxAgeSeconds: -1 },
    ])
      await expect(
        s3.send(
          new PutBucketCorsCommand({
            Bucket: 'cors',
            CORSConfiguration: { CORSRules: [{ ...rule!, ...wrong }] },
          }),
        ),
      ).rejects.toMatchObject({ name: 'MalformedXML' });
    await project.sql(`update storage.buckets set cors_rules = '[{"origins": ["*"]}]' where name = 'cors'`);
    await eventually(async () => expect((await preflight('https://any.example', 'GET')).status).toBe(403));
    await s3.send(new DeleteBucketCorsCommand({ Bucket: 'cors' }));
  });

  it('lets only callers that may change the bucket change the rules', async () => {
    const bound = clientOf(await newKey({ read_only: true }));
    const change = new PutBucketCorsCommand({ Bucket: 'cors', CORSConfiguration: RULES });
    await expect(bound.send(change)).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    const missing = new PutBucketCorsCommand({ Bucket: 'missing', CORSConfiguration: RULES });
    await expect(s3.send(missing)).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });
});

describe('requests of tools', () => {
  it('lists each object as its only version, in pages', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'versions' }));
    for (const Key of ['a', 'b', 'c/d'])
      await s3.send(new PutObjectCommand({ Bucket: 'versions', Key, Body: 'x' }));
    const all = (more: object) => s3.send(new ListObjectVersionsCommand({ Bucket: 'versions', ...more }));
    const first = await all({ MaxKeys: 1 });
    expect(first).toMatchObject({ IsTruncated: true, NextKeyMarker: 'a', NextVersionIdMarker: 'null' });
    expect(first.Versions).toMatchObject([{ Key: 'a', VersionId: 'null', IsLatest: true, Size: 1 }]);
    const rest = await all({ KeyMarker: 'a', Delimiter: '/' });
    expect(rest.Versions?.map(({ Key }) => Key)).toEqual(['b']);
    expect(rest.CommonPrefixes).toEqual([{ Prefix: 'c/' }]);
  });

  it('shows the fixed ACL of buckets and objects, and refuses any other', async () => {
    await put('acl');
    for (const { Grants } of [
      await s3.send(new GetBucketAclCommand({ Bucket: 'box' })),
      await s3.send(new GetObjectAclCommand({ Bucket: 'box', Key: 'acl' })),
    ])
      expect(Grants).toEqual([
        {
          Grantee: expect.objectContaining({ ID: project.slug, Type: 'CanonicalUser' }),
          Permission: 'FULL_CONTROL',
        },
      ]);
    const set = (ACL: 'private' | 'public-read') =>
      s3.send(new PutObjectAclCommand({ Bucket: 'box', Key: 'acl', ACL }));
    await set('private');
    await expect(set('public-read')).rejects.toMatchObject({ name: 'NotImplemented' });
  });

  it('keeps the type of a text unchanged, pages buckets, and identifies the request of an error', async () => {
    await put('typed', 'x', { ContentType: 'text/plain' });
    const head = await s3.send(new HeadObjectCommand({ Bucket: 'box', Key: 'typed' }));
    expect(head.ContentType).toBe('text/plain');
    const one = await s3.send(new ListBucketsCommand({ MaxBuckets: 1 }));
    expect(one.Buckets).toHaveLength(1);
    const two = await s3.send(
      new ListBucketsCommand({ MaxBuckets: 1, ContinuationToken: one.ContinuationToken }),
    );
    expect(two.Buckets?.[0]?.Name).not.toBe(one.Buckets?.[0]?.Name);
    const missing = s3.send(new GetObjectCommand({ Bucket: 'box', Key: 'no' }));
    await expect(missing).rejects.toMatchObject({
      RequestId: expect.stringMatching(/./),
      $metadata: { requestId: expect.stringMatching(/./) },
    });
    const listed = await s3.send(
      new ListObjectsV2Command({ Bucket: 'box', ContinuationToken: '', MaxKeys: 1 }),
    );
    expect(listed.Contents).toHaveLength(1);
  });
});
