/**
 * The part of Google Cloud Storage's JSON API that Plinth uses: simple and resumable uploads in chunks, downloads, copies by
 * rewriting, compositions, deletions, listings, preconditions, and a token endpoint.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { HashedContent } from './hashed-content';
import { entriesOf } from './listing';
import { Fault, ObjectServer, rangeOf, SeenRequest } from './object-server';

export interface GcsObject {
  readonly content: HashedContent;
  readonly generation: number;
  created: Date;
}

interface Session {
  readonly name: string;
  readonly precondition: string | null;
  readonly content: HashedContent;
}

export interface GcsOptions {
  readonly bucket: string;
  /** Whether requests need a token; emulators do not require one. */
  readonly authenticated: boolean;
  readonly pageSize?: number;
  /** Number of bytes that one call of a rewrite copies. */
  readonly rewriteSize?: number;
}

/** Chunks of a resumable upload are multiples of this size, except the last one. */
const GRANULE = 256 * 1024;
/** Maximum number of sources of one composition. */
const MAX_COMPOSED = 32;

class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly reason = 'notFound',
  ) {
    super(message);
  }
}

interface GcsRequest {
  readonly seen: SeenRequest;
  readonly query: URLSearchParams;
  readonly path: string;
}

export class GcsServer extends ObjectServer {
  readonly objects = new Map<string, GcsObject>();
  readonly sessions = new Map<string, Session>();
  /** If false, the bucket does not exist. */
  hasBucket = true;
  /** The credential that a workload exchanges for a token. */
  readonly subject = `subject-${randomUUID()}`;
  private readonly token = `token-${randomUUID()}`;
  private readonly rewrites = new Map<string, number>();
  private generations = 0;

  constructor(readonly options: GcsOptions) {
    super();
  }

  /**
   * A configuration of workload identity federation, the only credentials that allow a token server other than
   * Google's.
   * @param subjectFile file with the credential of the workload
   */
  credentials(subjectFile: string): string {
    return JSON.stringify({
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/test/providers/test',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${this.url}/token`,
      credential_source: { file: subjectFile },
    });
  }

  protected override async answer(seen: SeenRequest, response: ServerResponse, fault: Fault): Promise<void> {
    const url = new URL(seen.path, this.url);
    const request = { seen, query: url.searchParams, path: url.pathname };
    try {
      if (url.pathname === '/token') this.giveToken(seen, response);
      else await this.authorised(request, response, fault);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuseWith(response, error, url.searchParams.get('alt') === 'media');
    }
  }

  protected override refuse(response: ServerResponse, status: number): void {
    refuseWith(response, new Refusal(status, 'Backend Error', 'backendError'), false);
  }

  /** Google keeps the received part of a chunk, in whole granules. */
  protected override receivedInPart({ path, headers, body }: SeenRequest): void {
    const session = this.sessions.get(new URL(path, this.url).searchParams.get('upload_id') ?? '');
    if (session && /^bytes \d+-/.test(headers['content-range'] ?? ''))
      session.content.append(body.subarray(0, body.length - (body.length % GRANULE)));
  }

  /** Exchanges a token (RFC 8693). */
  private giveToken({ body }: SeenRequest, response: ServerResponse): void {
    if (new URLSearchParams(body.toString()).get('subject_token') !== this.subject) {
      answerJson(response, { error: 'invalid_grant', error_description: 'The subject is not known' }, 400);
      return;
    }
    answerJson(response, {
      access_token: this.token,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      expires_in: 3599,
      token_type: 'Bearer',
    });
  }

  private async authorised(request: GcsRequest, response: ServerResponse, fault: Fault): Promise<void> {
    const { seen, path, query } = request;
    // The SDK sends resumable uploads to foreign hosts without credentials (7.22).
    const isResumable = query.get('uploadType') === 'resumable';
    if (this.options.authenticated && !isResumable && seen.headers.authorization !== `Bearer ${this.token}`)
      throw new Refusal(401, 'Invalid Credentials', 'authError');
    const match =
      /^(?:\/upload)?\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?(?:\/(compose)|\/rewriteTo\/b\/([^/]+)\/o\/([^/]+))?$/.exec(
        path,
      );
    if (!match) throw new Refusal(404, 'Not Found');
    if (match[1] !== this.options.bucket || !this.hasBucket)
      throw new Refusal(404, 'The specified bucket does not exist.');
    const [name, target] = [match[2], match[5]].map((text) => text && decodeURIComponent(text));
    if (path.startsWith('/upload/')) this.upload(request, response);
    else if (name === undefined) this.list(query, response);
    else if (match[3] !== undefined) this.compose(name, seen, query, response);
    else if (target !== undefined) this.rewrite(name, target, query, response);
    else if (seen.method === 'DELETE') this.remove(name, response);
    else if (query.get('alt') === 'media') await this.download(name, seen, response, fault);
    else answerJson(response, describe(name, this.object(name)));
  }

  private upload({ seen, query }: GcsRequest, response: ServerResponse): void {
    const session = this.sessions.get(query.get('upload_id') ?? '');
    if (query.has('upload_id') && !session) throw new Refusal(410, 'The upload is gone');
    const name = query.get('name') ?? '';
    const precondition = query.get('ifGenerationMatch');
    if (session) this.continueUpload(session, seen, response);
    else if (query.get('uploadType') === 'resumable') {
      const id = randomUUID();
      this.sessions.set(id, { name, precondition, content: new HashedContent() });
      response.setHeader('Location', `${this.url}${seen.path}&upload_id=${id}`);
      response.end();
    } else answerJson(response, this.store(name, new HashedContent().append(mediaOf(seen)), precondition));
  }

  private continueUpload(session: Session, { headers, body }: SeenRequest, response: ServerResponse): void {
    const { content } = session;
    const range = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(headers['content-range'] ?? '');
    if (!range) throw new Refusal(400, 'Content-Range is not valid', 'badRequest');
    const [, first, last, total] = range;
    const isLast = total !== '*';
    if (first !== undefined) {
      const length = Number(last) - Number(first) + 1;
      const isGranular = isLast || body.length % GRANULE === 0;
      if (Number(first) !== content.size || body.length !== length || !isGranular)
        throw new Refusal(400, `the chunk does not continue at ${content.size}`, 'badRequest');
      content.append(body);
    }
    if (isLast && content.size === Number(total)) {
      const hash = /crc32c=([^,]+)/.exec(String(headers['x-goog-hash']))?.[1];
      if (hash && hash !== content.crc32c)
        throw new Refusal(400, 'the checksum does not match', 'badRequest');
      answerJson(response, this.store(session.name, content, session.precondition));
      return;
    }
    const received = content.size > 0 ? { Range: `bytes=0-${content.size - 1}` } : {};
    response.writeHead(308, { 'Content-Length': 0, ...received }).end();
  }

  private store(name: string, content: HashedContent, precondition: string | null): object {
    const generation = this.objects.get(name)?.generation ?? 0;
    if (precondition !== null && Number(precondition) !== generation)
      throw new Refusal(
        412,
        'At least one of the pre-conditions you specified did not hold.',
        'conditionNotMet',
      );
    const object = { content, generation: ++this.generations, created: new Date() };
    this.objects.set(name, object);
    return describe(name, object);
  }

  private rewrite(from: string, to: string, query: URLSearchParams, response: ServerResponse): void {
    const { content } = this.object(from);
    const step = this.options.rewriteSize ?? Infinity;
    const token = query.get('rewriteToken') ?? randomUUID();
    const done = (this.rewrites.get(token) ?? 0) + step;
    const progress = { kind: 'storage#rewriteResponse', objectSize: String(content.size) };
    if (done < content.size) {
      this.rewrites.set(token, done);
      answerJson(response, {
        ...progress,
        done: false,
        totalBytesRewritten: String(done),
        rewriteToken: token,
      });
      return;
    }
    const resource = this.store(to, content, query.get('ifGenerationMatch'));
    answerJson(response, { ...progress, done: true, totalBytesRewritten: String(content.size), resource });
  }

  private compose(to: string, { body }: SeenRequest, query: URLSearchParams, response: ServerResponse): void {
    const { sourceObjects } = JSON.parse(body.toString()) as { sourceObjects: { name: string }[] };
    if (sourceObjects.length < 1 || sourceObjects.length > MAX_COMPOSED)
      throw new Refusal(400, 'The number of source components must be between 1 and 32.', 'invalid');
    const content = new HashedContent();
    for (const { name } of sourceObjects)
      for (const piece of this.object(name).content) content.append(piece);
    answerJson(response, this.store(to, content, query.get('ifGenerationMatch')));
  }

  private remove(name: string, response: ServerResponse): void {
    this.object(name);
    this.objects.delete(name);
    response.writeHead(204).end();
  }

  private async download(
    name: string,
    { headers }: SeenRequest,
    response: ServerResponse,
    fault: Fault,
  ): Promise<void> {
    const { content, generation } = this.object(name);
    const range = rangeOf(headers.range, content.size);
    if (range && range.start >= content.size) throw new Refusal(416, 'Request range not satisfiable');
    const part = range ? content.part(range.start, range.end) : content;
    response.writeHead(range ? 206 : 200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': part.size,
      'X-Goog-Generation': generation,
      'X-Goog-Stored-Content-Encoding': 'identity',
      ...(range ? { 'Content-Range': `bytes ${range.start}-${range.end}/${content.size}` } : {}),
    });
    await this.send(response, part, fault);
  }

  private list(query: URLSearchParams, response: ServerResponse): void {
    const entries = entriesOf([...this.objects.keys()], query.get('prefix') ?? '', query.get('delimiter'));
    const token = query.get('pageToken');
    const after = token && Buffer.from(token, 'base64url').toString();
    const rest = entries.filter((name) => after === null || name > after);
    const size = Math.min(Number(query.get('maxResults') ?? 1_000), this.options.pageSize ?? 1_000);
    const page = rest.slice(0, size);
    const items = page.flatMap((name) => {
      const object = this.objects.get(name);
      return object ? [describe(name, object)] : [];
    });
    const prefixes = page.filter((name) => !this.objects.has(name));
    const more =
      rest.length > size ? { nextPageToken: Buffer.from(page.at(-1) ?? '').toString('base64url') } : {};
    answerJson(response, { kind: 'storage#objects', ...more, items, prefixes });
  }

  private object(name: string): GcsObject {
    const object = this.objects.get(name);
    if (!object) throw new Refusal(404, `No such object: ${this.options.bucket}/${name}`);
    return object;
  }
}

/** The second part of a multipart/related body; the first one is the metadata. */
function mediaOf({ headers, body }: SeenRequest): Buffer {
  const boundary = /boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) throw new Refusal(400, 'Missing end boundary in multipart body.', 'badContent');
  const second = body.indexOf(`--${boundary}`, boundary.length);
  const start = body.indexOf('\r\n\r\n', second) + 4;
  const end = body.lastIndexOf(`\r\n--${boundary}--`);
  if (second < 0 || start < 4 || end < start)
    throw new Refusal(400, 'Missing end boundary in multipart body.', 'badContent');
  return body.subarray(start, end);
}

function describe(name: string, { content, generation, created }: GcsObject): object {
  return {
    kind: 'storage#object',
    name,
    generation: String(generation),
    size: String(content.size),
    timeCreated: created.toISOString(),
    updated: created.toISOString(),
    md5Hash: content.md5Hash,
    crc32c: content.crc32c,
  };
}

function refuseWith(response: ServerResponse, { status, message, reason }: Refusal, asText: boolean): void {
  if (asText) {
    response.writeHead(status, { 'Content-Type': 'text/html; charset=UTF-8' }).end(message);
    return;
  }
  const errors = [{ message, domain: 'global', reason }];
  answerJson(response, { error: { code: status, message, errors } }, status);
}

function answerJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
