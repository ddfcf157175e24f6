/** Buckets and files. Files come from the old storage's interface, or from a folder, and go through the project's own. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { messageOf } from '../../common/errors/error-facts';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import type { AdminClient } from '../admin-client';
import { sendRequest } from '../send-request';
import type { Remark, SourceFile } from './source';
import type { ImportTarget } from './target';

/** Maximum number of files that are copied concurrently. */
const CONCURRENCY = 4;

export interface FileSource {
  /** @throws Error for a file that cannot be read */
  open(file: SourceFile): Promise<{ readonly body: Readable; readonly size: number | null }>;
}

/** @param address the address of the old project, such as https://abc.supabase.co */
export function storageAt(address: string, serviceKey: string): FileSource {
  const base = `${address.replace(/\/+$/, '')}/storage/v1/object/authenticated`;
  const headers = { authorization: `Bearer ${serviceKey}`, apikey: serviceKey };
  return {
    async open({ bucket, name }) {
      const url = `${base}/${encodedPath(bucket, name)}`;
      const response = await sendRequest(url, { method: 'GET', headers });
      const length = response.headers['content-length'];
      if (response.statusCode === 200)
        return { body: response, size: length === undefined ? null : Number(length) };
      response.resume();
      throw new Error(`the old storage answered ${response.statusCode}`);
    },
  };
}

/** `<folder>/<bucket>/<name>`, or the folder of that name with a version, as a self-hosted Supabase keeps it. */
export function storageIn(folder: string): FileSource {
  const root = resolve(folder);
  return {
    async open({ bucket, name, version }) {
      const path = below(root, bucket, name);
      const facts = await stat(path);
      const file = facts.isDirectory() ? below(path, version ?? (await readdir(path))[0] ?? '') : path;
      const { size } = await stat(file);
      return { body: createReadStream(file), size };
    },
  };
}

/** The names come from the old database. @throws Error */
function below(folder: string, ...names: string[]): string {
  const path = resolve(folder, ...names);
  if (!path.startsWith(folder + sep)) throw new Error('its name or version leads out of the folder');
  return path;
}

export interface FileReport {
  copied: number;
  existing: number;
  readonly failed: Remark[];
}

export class FileImport {
  readonly report: FileReport = { copied: 0, existing: 0, failed: [] };
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    private readonly server: AdminClient,
    private readonly slug: string,
    serviceKey: string,
    private readonly target: ImportTarget,
  ) {
    this.headers = { apikey: serviceKey, authorization: `Bearer ${serviceKey}` };
  }

  /** @returns true if it was created now */
  async bucket({ id, ...bucket }: JsonObject): Promise<boolean> {
    const body = JSON.stringify({
      id,
      name: id,
      public: bucket.public === true,
      file_size_limit: bucket.file_size_limit ?? null,
      allowed_mime_types: bucket.allowed_mime_types ?? null,
    });
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    const { status, message } = await this.send('POST', 'bucket', { headers, body });
    if (status >= 400 && status !== 409) this.fail(`bucket ${JSON.stringify(id)}`, message);
    return status < 300;
  }

  /** Files that are there already, with the same size, are skipped. */
  async files(files: AsyncIterable<SourceFile>, source: FileSource): Promise<void> {
    const sizes = await this.sizes();
    const iterator = files[Symbol.asyncIterator]();
    const work = async (): Promise<void> => {
      for (;;) {
        const next = await iterator.next();
        if (next.done === true) return;
        const file = next.value;
        const size = sizes.get(`${file.bucket}/${file.name}`);
        if (size !== undefined && (file.size === null || size === file.size)) this.report.existing += 1;
        else await this.copy(file, source);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
  }

  private async copy(file: SourceFile, source: FileSource): Promise<void> {
    let opened: Readable | undefined;
    try {
      const path = `object/${encodedPath(file.bucket, file.name)}`;
      const { body, size } = await source.open(file);
      opened = body;
      const seconds = /max-age=(\d+)/.exec(file.cache_control ?? '')?.[1];
      const headers = {
        'content-type': file.content_type ?? 'application/octet-stream',
        'x-upsert': 'true',
        ...(size === null ? {} : { 'content-length': String(size) }),
        ...(seconds === undefined ? {} : { 'cache-control': `max-age=${seconds}` }),
      };
      const { status, message } = await this.send('POST', path, { headers, openBody: () => body });
      if (status >= 300) throw new Error(message);
      await this.describe(file);
      this.report.copied += 1;
    } catch (error) {
      opened?.destroy();
      this.fail(`file ${file.bucket}/${file.name}`, messageOf(error));
    }
  }

  /** Sets the owner and the time of files, which an upload with the service-role key cannot set. */
  private async describe({
    bucket,
    name,
    owner,
    created_at: createdAt,
    user_metadata: metadata,
  }: SourceFile): Promise<void> {
    const uuid = /^[0-9a-f-]{36}$/i.test(owner ?? '') ? owner : null;
    await this.target.client.query(
      `update storage.files f set owner_id = $3, created_at = $4, metadata = coalesce($5, f.metadata)
        from storage.buckets b where b.id = f.bucket_id and b.name = $1 and f.filename = $2`,
      [bucket, name, uuid, createdAt, isJsonObject(metadata) ? JSON.stringify(metadata) : null],
    );
  }

  private async sizes(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.target.client.query<{ path: string; size: string }>(
      `select b.name || '/' || f.filename as path, f.size::text from storage.files f join storage.buckets b on b.id = f.bucket_id`,
    );
    return new Map(rows.map(({ path, size }) => [path, Number(size)]));
  }

  private async send(
    method: string,
    path: string,
    { headers, ...body }: { headers: Record<string, string>; body?: string; openBody?: () => Readable },
  ): Promise<{ status: number; message: string }> {
    const options = { method, headers: { ...this.headers, ...headers }, ...body };
    const response = await this.server.reach(`/p/${this.slug}/storage/v1/${path}`, options);
    const text = await textOf(response);
    const answer = parseJson(text);
    const message =
      isJsonObject(answer) && typeof answer.message === 'string' ? answer.message : text.slice(0, 200);
    return { status: response.statusCode ?? 500, message };
  }

  private fail(object: string, reason: string): void {
    this.report.failed.push({ object, reason });
  }
}

/** A client resolves `..` before it sends a path, so it would name another route. @throws Error for such a name */
function encodedPath(bucket: string, name: string): string {
  const parts = [bucket, ...name.split('/')];
  if (parts.some((part) => part === '.' || part === '..')) throw new Error('its name has parts . or ..');
  return parts.map(encodeURIComponent).join('/');
}
