/**
 * The part of S3's XML API that Plinth uses, with the checks that AWS makes: signatures, payload hashes, part sizes and
 * order, ETags, pages of at most a thousand entries.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Content } from './content';
import { entriesOf } from './listing';
import { Fault, ObjectServer, rangeOf, SeenRequest } from './object-server';
import { joined, S3Object, toObject } from './s3-object';
import { AwsKey, signatureFault } from './sigv4';

interface MultipartUpload {
  readonly key: string;
  readonly parts: Map<number, Pick<S3Object, 'content' | 'etag'>>;
  initiated: Date;
}

export interface S3Options extends AwsKey {
  readonly bucket: string;
  readonly region: string;
  /** If set, the bucket is a subdomain of this host (virtual-hosted style), otherwise the first segment of the path. */
  readonly domain?: string;
  /** Maximum number of entries on one page of a listing. */
  readonly pageSize?: number;
}

const MIN_PART = 5 * 1024 * 1024;
const STATUS: Record<string, number> = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  BadDigest: 400,
  EntityTooSmall: 400,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  XAmzContentSHA256Mismatch: 400,
};

class Refusal extends Error {
  constructor(
    readonly code: string,
    readonly status = STATUS[code] ?? 500,
  ) {
    super(code);
  }
}

/** A parsed request. */
interface S3Request {
  readonly seen: SeenRequest;
  readonly key: string;
  readonly query: URLSearchParams;
}

export class S3Server extends ObjectServer {
  readonly objects = new Map<string, S3Object>();
  readonly uploads = new Map<string, MultipartUpload>();
  /** If false, the bucket does not exist. */
  hasBucket = true;
  /** Number of copies and completions that are to fail after their status was sent, as AWS documents it. */
  lateErrors = 0;

  constructor(readonly options: S3Options) {
    super();
  }

  protected override async answer(seen: SeenRequest, response: ServerResponse, fault: Fault): Promise<void> {
    try {
      const code = signatureFault(seen, this.options, this.options.region);
      if (code) throw new Refusal(code);
      const url = new URL(seen.path, this.url);
      const [bucket, ...rest] = this.segmentsOf(seen, url.pathname);
      if (bucket !== this.options.bucket || !this.hasBucket) throw new Refusal('NoSuchBucket');
      const request = { seen, key: rest.map(decodeURIComponent).join('/'), query: url.searchParams };
      await (request.key ? this.onObject(request, response, fault) : this.onBucket(request, response));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refuseWith(response, error.code, error.status, seen.method === 'HEAD');
    }
  }

  protected override refuse(response: ServerResponse, status: number): void {
    this.refuseWith(response, status === 503 ? 'SlowDown' : 'InternalError', status);
  }

  protected override receivedInPart(): void {
    // S3 discards the data of an interrupted request.
  }

  /** Segments of the path: the bucket, then the segments of the key. */
  private segmentsOf({ headers }: SeenRequest, path: string): string[] {
    const segments = path.split('/').slice(1);
    if (this.options.domain === undefined) return segments;
    const [host = ''] = (headers.host ?? '').split(':');
    const below = `.${this.options.domain}`;
    return [host.endsWith(below) ? host.slice(0, -below.length) : '', ...segments];
  }

  private async onBucket({ seen, query }: S3Request, response: ServerResponse): Promise<void> {
    if (seen.method === 'HEAD') response.end();
    else if (seen.method === 'GET' && query.has('uploads')) this.listUploads(query, response);
    else if (seen.method === 'GET' && query.get('list-type') === '2') this.list(query, response);
    else if (seen.method === 'POST' && query.has('delete')) this.removeAll(seen, response);
    else throw new Refusal('MethodNotAllowed');
  }

  private async onObject(request: S3Request, response: ServerResponse, fault: Fault): Promise<void> {
    const { seen, key, query } = request;
    const uploadId = query.get('uploadId');
    if (seen.method === 'GET' || seen.method === 'HEAD') return this.get(request, response, fault);
    if (seen.method === 'POST' && query.has('uploads')) return this.createUpload(key, response);
    if (seen.method === 'POST' && uploadId) return this.complete(request, uploadId, response);
    if (seen.method === 'DELETE' && uploadId) return this.abort(uploadId, response);
    if (seen.method === 'PUT' && uploadId) return this.putPart(request, uploadId, response);
    if (seen.method === 'PUT') return this.put(request, response);
    if (seen.method === 'DELETE') {
      this.objects.delete(key);
      response.writeHead(204).end();
      return;
    }
    throw new Refusal('MethodNotAllowed');
  }

  private async get({ seen, key }: S3Request, response: ServerResponse, fault: Fault): Promise<void> {
    const object = this.object(key);
    const { size } = object.content;
    const range = rangeOf(seen.headers.range, size);
    if (range && range.start >= size) throw new Refusal('InvalidRange');
    const part = range ? object.content.part(range.start, range.end) : object.content;
    response.writeHead(range ? 206 : 200, {
      'Content-Length': part.size,
      ETag: object.etag,
      'Last-Modified': object.modified.toUTCString(),
      'Accept-Ranges': 'bytes',
      ...(range ? { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` } : {}),
    });
    if (seen.method === 'HEAD') response.end();
    else await this.send(response, part, fault);
  }

  private put({ seen, key }: S3Request, response: ServerResponse): void {
    const source = seen.headers['x-amz-copy-source'];
    if (source !== undefined) this.failLate();
    const content = source === undefined ? contentOf(seen) : this.object(sourceKey(String(source))).content;
    const object = toObject(content);
    this.objects.set(key, object);
    response.setHeader('ETag', object.etag);
    if (source === undefined) response.end();
    else answerXml(response, 'CopyObjectResult', copied(object));
  }

  private createUpload(key: string, response: ServerResponse): void {
    const uploadId = randomUUID();
    this.uploads.set(uploadId, { key, parts: new Map(), initiated: new Date() });
    const fields = `<Bucket>${this.options.bucket}</Bucket><Key>${escape(key)}</Key><UploadId>${uploadId}</UploadId>`;
    answerXml(response, 'InitiateMultipartUploadResult', fields);
  }

  private putPart({ seen, query }: S3Request, uploadId: string, response: ServerResponse): void {
    const { parts } = this.upload(uploadId);
    const source = seen.headers['x-amz-copy-source'];
    const part = toObject(source === undefined ? contentOf(seen) : this.sourcePart(seen, String(source)));
    parts.set(Number(query.get('partNumber')), part);
    response.setHeader('ETag', part.etag);
    if (source === undefined) response.end();
    else answerXml(response, 'CopyPartResult', copied(part));
  }

  private sourcePart({ headers }: SeenRequest, source: string): Content {
    this.failLate();
    const { content } = this.object(sourceKey(source));
    const header = headers['x-amz-copy-source-range'];
    if (header === undefined) return content;
    const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(String(header)) ?? [];
    if (first === '' || Number(last) < Number(first) || Number(last) >= content.size)
      throw new Refusal('InvalidArgument');
    return content.part(Number(first), Number(last));
  }

  private complete({ seen }: S3Request, uploadId: string, response: ServerResponse): void {
    const upload = this.upload(uploadId);
    this.failLate();
    const asked = [...seen.body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
      number: Number(textOf(part, 'PartNumber')),
      etag: textOf(part, 'ETag').replaceAll('&quot;', '"'),
    }));
    if (asked.some(({ number }, index) => index > 0 && number <= (asked[index - 1]?.number ?? 0)))
      throw new Refusal('InvalidPartOrder');
    const parts = asked.map(({ number, etag }) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag) throw new Refusal('InvalidPart');
      return part;
    });
    if (parts.slice(0, -1).some(({ content }) => content.size < MIN_PART))
      throw new Refusal('EntityTooSmall');
    const object = joined(parts);
    this.objects.set(upload.key, object);
    this.uploads.delete(uploadId);
    const fields = `<Key>${escape(upload.key)}</Key><ETag>${escape(object.etag)}</ETag>`;
    answerXml(response, 'CompleteMultipartUploadResult', fields);
  }

  private failLate(): void {
    if (this.lateErrors === 0) return;
    this.lateErrors -= 1;
    throw new Refusal('InternalError', 200);
  }

  private abort(uploadId: string, response: ServerResponse): void {
    this.upload(uploadId);
    this.uploads.delete(uploadId);
    response.writeHead(204).end();
  }

  private removeAll({ headers, body }: SeenRequest, response: ServerResponse): void {
    if (headers['content-md5'] !== createHash('md5').update(body).digest('base64'))
      throw new Refusal('BadDigest');
    const keys = [...body.toString().matchAll(/<Key>(.*?)<\/Key>/gs)].map(([, key = '']) => unescape(key));
    for (const key of keys) this.objects.delete(key);
    answerXml(response, 'DeleteResult', '');
  }

  private list(query: URLSearchParams, response: ServerResponse): void {
    const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter')];
    const entries = entriesOf([...this.objects.keys()], prefix, delimiter);
    const { page, next } = this.page(entries, query.get('continuation-token'));
    const fields = page.map((name) => {
      const object = this.objects.get(name);
      if (!object) return `<CommonPrefixes><Prefix>${escape(name)}</Prefix></CommonPrefixes>`;
      return `<Contents><Key>${escape(name)}</Key><LastModified>${object.modified.toISOString()}</LastModified><ETag>${escape(object.etag)}</ETag><Size>${object.content.size}</Size></Contents>`;
    });
    const more = next ? `<NextContinuationToken>${escape(next)}</NextContinuationToken>` : '';
    const head = `<Name>${this.options.bucket}</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${next !== null}</IsTruncated>`;
    answerXml(response, 'ListBucketResult', head + more + fields.join(''));
  }

  private listUploads(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get('prefix') ?? '';
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const names = found.map(([uploadId, { key }]) => `${key} ${uploadId}`).sort();
    const marker = query.get('key-marker');
    const { page, next } = this.page(names, marker && `${marker} ${query.get('upload-id-marker') ?? ''}`);
    const fields = page.map((name) => {
      const [key = '', uploadId = ''] = name.split(' ');
      const initiated = this.upload(uploadId).initiated.toISOString();
      return `<Upload><Key>${escape(key)}</Key><UploadId>${uploadId}</UploadId><Initiated>${initiated}</Initiated></Upload>`;
    });
    const [nextKey = '', nextId = ''] = next?.split(' ') ?? [];
    const more = next
      ? `<NextKeyMarker>${escape(nextKey)}</NextKeyMarker><NextUploadIdMarker>${nextId}</NextUploadIdMarker>`
      : '';
    const head = `<Bucket>${this.options.bucket}</Bucket><IsTruncated>${next !== null}</IsTruncated>`;
    answerXml(response, 'ListMultipartUploadsResult', head + more + fields.join(''));
  }

  /** @returns the last name of the page if there are more names */
  private page(names: readonly string[], after: string | null): { page: string[]; next: string | null } {
    const rest = names.filter((name) => after === null || name > after);
    const page = rest.slice(0, this.options.pageSize ?? 1_000);
    return { page, next: rest.length > page.length ? (page.at(-1) ?? null) : null };
  }

  private object(key: string): S3Object {
    const object = this.objects.get(key);
    if (!object) throw new Refusal('NoSuchKey');
    return object;
  }

  private upload(uploadId: string): MultipartUpload {
    const upload = this.uploads.get(uploadId);
    if (!upload) throw new Refusal('NoSuchUpload');
    return upload;
  }

  private refuseWith(response: ServerResponse, code: string, status: number, withoutBody = false): void {
    response.statusCode = status;
    if (withoutBody) response.end();
    else
      answerXml(response, 'Error', `<Code>${code}</Code><Message>${code}</Message><RequestId>1</RequestId>`);
  }
}

function contentOf({ body }: SeenRequest): Content {
  return new Content().append(body);
}

function sourceKey(source: string): string {
  return decodeURIComponent(source).replace(/^\/?[^/]+\//, '');
}

function copied({ etag }: { etag: string }): string {
  return `<ETag>${escape(etag)}</ETag><LastModified>${new Date().toISOString()}</LastModified>`;
}

function answerXml(response: ServerResponse, root: string, content: string): void {
  response.setHeader('Content-Type', 'application/xml');
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${content}</${root}>`);
}

function textOf(xml: string, tag: string): string {
  return unescape(new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(xml)?.[1] ?? '');
}

const ENTITIES = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
] as const;

function escape(text: string): string {
  return ENTITIES.reduce((escaped, [character, entity]) => escaped.replaceAll(character, entity), text);
}

function unescape(text: string): string {
  return ENTITIES.reduceRight((plain, [character, entity]) => plain.replaceAll(entity, character), text);
}
