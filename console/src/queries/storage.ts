/** Buckets and files of a project, through the project's own storage API. */
import { queryOptions } from '@tanstack/react-query';
import { PLINTH_URL } from '../api/base-url';
import type { Schema } from '../api/client';
import { unreachable } from '../api/reachability';
import { toApiError } from '../api/errors';
import { projectHeaders } from '../api/identity';
import type { Project } from './projects';
import { projectClient } from './users';

export type Bucket = Schema<'BucketResponse'>;
export type StoredFile = Schema<'FileResponse'>;

export const bucketsQuery = (project: Project) =>
  queryOptions({
    queryKey: ['buckets', project.id],
    queryFn: async () => {
      const params = { params: { path: { project_slug: project.slug } } };
      return (
        (await projectClient(project.id).GET('/p/{project_slug}/storage/buckets', params)).data?.data ?? []
      );
    },
  });

interface Folder {
  readonly project: Project;
  readonly bucket: string;
  /** Ends with a slash, or is empty. */
  readonly prefix: string;
}

export const foldersQuery = ({ project, bucket, prefix }: Folder) =>
  queryOptions({
    queryKey: ['files', project.id, bucket, 'folders', prefix],
    queryFn: async () => {
      const { data } = await projectClient(project.id).GET(
        '/p/{project_slug}/storage/buckets/{bucket_name}/folders',
        {
          params: {
            path: { project_slug: project.slug, bucket_name: bucket },
            query: { prefix, limit: 1000 },
          },
        },
      );
      return data?.data ?? [];
    },
  });

export const fileQuery = (project: Project, id: string) =>
  queryOptions({
    queryKey: ['files', project.id, 'one', id],
    queryFn: async () => {
      const path = { project_slug: project.slug, file_id: id };
      const { data } = await projectClient(project.id).GET('/p/{project_slug}/storage/files/{file_id}', {
        params: { path },
      });
      return data!.data;
    },
  });

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly cursor: string | null;
}

export async function fetchFiles(
  { project, bucket, prefix }: Folder,
  search: string,
  cursor: string | null,
): Promise<FilePage> {
  const { data, response } = await projectClient(project.id).GET(
    '/p/{project_slug}/storage/buckets/{bucket_name}/files',
    {
      params: {
        path: { project_slug: project.slug, bucket_name: bucket },
        query: {
          limit: 100,
          sortBy: 'filename',
          // A search covers all folders below.
          ...(search === '' ? { delimiter: '/' as const } : { search }),
          ...(prefix === '' ? {} : { prefix }),
          ...(cursor === null ? {} : { cursor }),
        },
      },
    },
  );
  return { files: data?.data ?? [], cursor: response.headers.get('x-next-cursor') };
}

/** The bytes of a file, as the service role. */
export async function fetchBytes(project: Project, fileId: string): Promise<Blob> {
  const response = await fetch(`${storageUrl(project)}/files/${encodeURIComponent(fileId)}/download`, {
    headers: await projectHeaders(project.id),
    credentials: 'omit',
    cache: 'no-store',
  });
  if (!response.ok) throw toApiError(response, await response.json().catch(() => null));
  return response.blob();
}

/** A picture with this maximum width, as the service role; the file itself if it cannot be transformed. */
export async function fetchPicture(project: Project, file: StoredFile, width: number): Promise<Blob> {
  const path = [file.bucket_slug ?? '', ...file.filename.split('/')].map(encodeURIComponent).join('/');
  const url = `${storageUrl(project)}/v1/render/image/authenticated/${path}?width=${width}&resize=contain`;
  const headers = await projectHeaders(project.id);
  const response = await fetch(url, { headers, credentials: 'omit', cache: 'no-store' });
  return response.ok ? response.blob() : fetchBytes(project, file.id);
}

interface Upload extends Folder {
  readonly file: File;
  /** Path below the folder. */
  readonly path: string;
  /** Called with the share of the file that was sent, 0 to 1. */
  readonly onProgress: (part: number) => void;
  readonly signal: AbortSignal;
}

/** Bytes per request of a resumable upload. Smaller files are sent as one form. */
const CHUNK = 8 * 1024 * 1024;

export async function uploadFile(upload: Upload): Promise<void> {
  const headers = await projectHeaders(upload.project.id);
  upload.signal.throwIfAborted();
  return upload.file.size > CHUNK ? uploadResumable(upload, headers) : uploadForm(upload, headers);
}

/** Continues an interrupted upload of the same file to the same path, even after a reload of the page. */
async function uploadResumable(
  { project, bucket, prefix, file, path, onProgress, signal }: Upload,
  headers: Record<string, string>,
): Promise<void> {
  const { DetailedError, Upload } = await import('tus-js-client');
  const name = `${prefix}${path}`;
  const place = ['plinth', project.id, bucket, name, file.size, file.lastModified].join('/');
  await new Promise<void>((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint: `${storageUrl(project)}/v1/upload/resumable`,
      headers: { ...headers, 'x-upsert': 'true' },
      metadata: { bucketName: bucket, objectName: name },
      chunkSize: CHUNK,
      fingerprint: () => Promise.resolve(place),
      removeFingerprintOnSuccess: true,
      onProgress: (sent, total) => onProgress(sent / total),
      onSuccess: () => resolve(),
      onError: (error) => {
        const answer = error instanceof DetailedError ? error.originalResponse : null;
        const body: unknown = answer && parsed(answer.getBody());
        reject(answer ? toApiError({ status: answer.getStatus() }, body) : unreachable());
      },
    });
    signal.addEventListener('abort', () => {
      void upload.abort();
      reject(signal.reason as Error);
    });
    upload
      .findPreviousUploads()
      .then(([previous]) => {
        if (previous) upload.resumeFromPreviousUpload(previous);
        if (!signal.aborted) upload.start();
      })
      .catch(reject);
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return null;
  }
}

/** XMLHttpRequest, because `fetch()` does not report upload progress. */
async function uploadForm(
  { project, bucket, prefix, file, path, onProgress, signal }: Upload,
  headers: Record<string, string>,
): Promise<void> {
  const name = `${prefix}${path}`;
  const query = new URLSearchParams({ filename: name, upsert: 'true' });
  const form = new FormData();
  form.set('file', file, 'file');
  await new Promise<void>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${storageUrl(project)}/buckets/${encodeURIComponent(bucket)}/upload?${query}`);
    for (const [header, value] of Object.entries(headers)) request.setRequestHeader(header, value);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(signal.reason as Error);
    request.onload = () => (request.status < 300 ? resolve() : reject(toApiError(request, request.response)));
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

function storageUrl({ slug }: Project): string {
  return `${PLINTH_URL}/p/${encodeURIComponent(slug)}/storage`;
}
