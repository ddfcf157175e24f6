/** Every storage request that reads a project's tables, with and without changes. */
import { HttpAnswer, HttpClient } from '../http-client';
import { TestPlinth } from '../plinth';
import { TestProject } from '../test-project';
import { upload } from '../uploads';

/** The type of object that a request returns or reads first, which decides which columns affect the request. */
export type Subject = 'bucket' | 'record' | 'content' | 'link' | 'target' | 'list' | 'write';

export interface StorageRequest {
  readonly name: string;
  /** Empty if the request overwrites the column or does not read it. */
  readonly subjects: readonly Subject[];
  send(): Promise<HttpAnswer>;
}

/** A project with two public buckets, and one of its files. */
export interface Victim {
  readonly project: TestProject;
  readonly file: string;
  readonly fileId: string;
  /** A signed URL of the file. */
  readonly signed: string;
}

export async function createVictimProject(plinth: TestPlinth): Promise<TestProject> {
  const settings = { statement_timeout: 3_000 };
  const project = await plinth.createProject({ plan: 'enterprise', settings });
  for (const name of ['box', 'shelf'])
    await project.service.post(`${project.storage}/buckets`, { name, is_public: true });
  return project;
}

export async function addVictim(project: TestProject, content: string, name: string): Promise<Victim> {
  const { service, storage } = project;
  const { body } = await upload(service, storage, 'box', content, { name });
  const file = `${storage}/files/${body.data.id}`;
  const { url } = (await service.post(`${file}/signed-url`, { expiry: '1h' })).body.data;
  return { project, file, fileId: body.data.id, signed: url.replace('http://plinth.test', '') };
}

const request = (
  name: string,
  subjects: readonly Subject[],
  send: () => Promise<HttpAnswer>,
): StorageRequest => ({ name, subjects, send });

export function readingRequests(plinth: TestPlinth, victim: Victim): StorageRequest[] {
  const { service, anon, storage, id } = victim.project;
  const get = (name: string, subjects: readonly Subject[], path: string, client: HttpClient = service) =>
    request(name, subjects, () => client.get(path));
  const box = `${storage}/buckets/box`;
  return [
    get('list buckets', ['bucket'], `${storage}/buckets`),
    get('show a bucket', ['bucket'], box),
    get('list files', ['list'], `${box}/files`),
    get('list files by size', ['list'], `${box}/files?sortBy=size&limit=1`),
    get('list files by name', ['list'], `${box}/files?sortBy=filename&limit=1`),
    get('search files', [], `${box}/files?search=i&prefix=v&delimiter=/`, anon),
    get('list folders', [], `${box}/folders`),
    ...readingOneFile(plinth, victim),
    request('check', [], () => plinth.admin.get(`/admin/v1/projects/${id}/storage/check`)),
    request('sweep', [], () => plinth.admin.post(`/admin/v1/projects/${id}/storage/sweep`)),
  ];
}

export function readingOneFile(
  plinth: TestPlinth,
  { project, file, fileId, signed }: Victim,
): StorageRequest[] {
  const { service, storage } = project;
  const nobody = plinth.http;
  return [
    request('show a file', ['record'], () => service.get(file)),
    request('download', ['content'], () => service.get(`${file}/download`)),
    request('head', ['content'], () => service.send('HEAD', `${file}/download`)),
    request('download a range', ['content'], () =>
      service.get(`${file}/download`, { headers: { range: 'bytes=0-3' } }),
    ),
    request('download ranges', ['content'], () =>
      service.get(`${file}/download`, { headers: { range: 'bytes=0-3,5-7' } }),
    ),
    request('open a signed address', ['content', 'link'], () => nobody.get(signed)),
    request('preview', ['content'], () => nobody.get(`${file}/preview`)),
    request('sign', ['link'], () => service.post(`${file}/signed-url`, { expiry: '5m' })),
    request('sign several', ['link'], () =>
      service.post(`${storage}/files/bulk-signed-urls`, { file_ids: [fileId], expiry: '5m' }),
    ),
  ];
}

/** Content that is too large for an upload that may skip the query before the body is read. */
const LARGE = 'new'.repeat(500_000);

export function changingRequests({ project, file, fileId }: Victim): StorageRequest[] {
  const { service, storage } = project;
  const path = `${storage}/buckets`;
  return [
    request('copy', ['record', 'content', 'target'], () =>
      service.post(`${file}/copy`, { filename: `copy ${Math.random()}` }),
    ),
    request('upload', ['target', 'write'], () => upload(service, storage, 'box', LARGE, { name: 'new' })),
    // A small upload need not read the altered columns.
    request('small upload', [], () => upload(service, storage, 'box', 'new', { name: 'small' })),
    request('rename', [], () => service.patch(file, { filename: 'renamed' })),
    request('retype', [], () => service.patch(file, { content_type: 'text/csv' })),
    request('move', [], () => service.patch(file, { bucket_name: 'shelf' })),
    request('move back', [], () => service.patch(file, { bucket_name: 'box', filename: 'victim.txt' })),
    request('overwrite', ['target', 'write'], () =>
      upload(service, storage, 'box', LARGE, { name: 'victim.txt', query: { upsert: 'true' } }),
    ),
    request('change a bucket', [], () => service.patch(`${path}/box`, { description: 'changed' })),
    request('revoke', [], () => service.delete(`${file}/signed-urls`)),
    request('delete several', [], () => service.post(`${storage}/files/bulk-delete`, { file_ids: [fileId] })),
    request('delete', [], () => service.delete(file)),
    request('delete a bucket', [], () => service.delete(`${path}/shelf`)),
  ];
}
