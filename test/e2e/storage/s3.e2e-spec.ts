/** The S3 protocol: by an unmodified aws-sdk, and by requests that no client sends. */
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const MIB = 1024 * 1024;

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
let key: Key;
let s3: S3Client;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = await Promise.all([
    plinth.createProject({ plan: 'enterprise' }),
    plinth.createProject({ plan: 'enterprise' }),
  ]);
  key = await newKey();
  s3 = clientOf(key);
  await s3.send(new CreateBucketCommand({ Bucket: 'box' }));
});
afterAll(() => plinth.stop());

interface Key {
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

async function newKey(rights: object = {}, of = project): Promise<Key> {
  const { status, body } = await plinth.admin.post(`/admin/v1/projects/${of.id}/s3-keys`, rights);
  expect(status).toBe(201);
  return body;
}

const endpointOf = (of = project): string => `${plinth.baseUrl}/p/${of.slug}/storage/v1/s3`;

function clientOf(
  { access_key_id, secret_access_key }: Key,
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

  it('have names as S3 allows, once, and are deleted when they are empty', async () => {
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
  ])('round %s', async (what, make) => {
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

  it('are copied and tagged, with metadata that stays or is replaced', async () => {
    await put('source', 'bytes', { Metadata: { a: '1' }, Tagging: 'k=v&l=w', ContentType: 'text/x-old' });
    const copy = (Key: string, more: object = {}) =>
      s3.send(new CopyObjectCommand({ Bucket: 'box', Key, CopySource: 'box/source', ...more }));
    expect((await copy('copy é/1')).CopyObjectResult?.ETag).toBe(`"${md5('bytes')}"`);
    await copy('copy é/1');
    const head = await s3.send(new HeadObjectCommand({ Bucket: 'box', Key: 'copy é/1' }));
    expect(head).toMatchObject({
      Metadata: { a: '1' },
      ETag: `"${md5('bytes')}"`,
      ContentType: 'text/x-old; charset=utf-8',
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

  it('of the other surfaces are the same, with a tag that is not taken for an MD5', async () => {
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

  it.each([true, false])('give all names, page by page (version 2: %s)', async (second) => {
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

  it('begin after a name, and encode names by wish', async () => {
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

describe('keys', () => {
  it('are refused for another project, after their end, and with another secret', async () => {
    const foreign = clientOf(await newKey({}, other));
    expect(await fault(foreign.send(new ListBucketsCommand()))).toBe('InvalidAccessKeyId 403');
    const ended = await newKey();
    await clientOf(ended).send(new ListBucketsCommand());
    await plinth.admin.delete(`/admin/v1/projects/${project.id}/s3-keys/${ended.access_key_id}`);
    expect(await fault(clientOf(ended).send(new ListBucketsCommand()))).toBe('InvalidAccessKeyId 403');
    const forged = clientOf({ ...key, secret_access_key: 'x'.repeat(43) });
    expect(await fault(forged.send(new ListBucketsCommand()))).toBe('SignatureDoesNotMatch 403');
    const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/s3-keys`);
    expect(JSON.stringify(body)).not.toContain(key.secret_access_key);
  });

  it('may only read, or reach one bucket', async () => {
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

  it('of a user, and session tokens, put the policies in force', async () => {
    await project.sql(`create policy own on storage.files for all to authenticated
      using (owner_id = auth.uid()) with check (owner_id = auth.uid());
      create policy seen on storage.buckets for select to authenticated using (true)`);
    const [ann, bob] = await Promise.all([project.signUp(), project.signUp()]);
    await put('of the service');
    const anon: Key = { access_key_id: project.slug, secret_access_key: project.anonKey };
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
  it('read and write, as long as they are valid', async () => {
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
