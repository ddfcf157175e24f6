/**
 * When the row of an upload is inserted, the bytes, their name and new directories are durable. A kill does not show this,
 * because the kernel keeps the writes of a dead process, so the test checks the system calls.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { hasStrace, SystemCall, systemCallsDuring } from '../support/system-calls';
import { upload } from '../support/uploads';

const CALLS = ['openat', 'mkdir', 'rename', 'write', 'writev', 'pwrite64', 'pwritev', 'fsync', 'fdatasync'];

(hasStrace ? describe : describe.skip)('an upload to the disk', () => {
  let directory: string;
  let files: string;
  let plinth: PlinthProcess;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-durable-'));
    files = join(directory, 'files');
    plinth = await PlinthProcess.start({ dataDir: directory, env: { STORAGE_DISK_DIR: files } });
  }, 120_000);
  afterAll(async () => {
    await plinth.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  });

  /** The calls of the first upload into a new project, which creates all directories, and the name of its object. */
  async function callsOfUpload(size: number): Promise<{ calls: SystemCall[]; objectId: string }> {
    const { body } = await plinth.admin.post('/admin/v1/projects', {
      name: 'Durable',
      slug: null,
      plan: 'enterprise',
    });
    const { id, slug, service_role_key: key } = body;
    const service = new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
    await service.post(`/p/${slug}/storage/buckets`, { name: 'box' });
    const calls = await systemCallsDuring(plinth.child.pid as number, CALLS, async () =>
      expect((await upload(service, `/p/${slug}/storage`, 'box', 'x'.repeat(size))).status).toBe(201),
    );
    const query = 'select object_id from storage.files';
    const { rows } = (await plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query })).body;
    return { calls, objectId: rows[0].object_id };
  }

  it.each([
    ['small', 4_000],
    ['large', 500_000],
  ])('syncs a %s file and each directory entry on its path before its row', async (_size, size) => {
    const { calls, objectId } = await callsOfUpload(size);
    const row = calls.findIndex((call) => /^writev?\(\d+<(?!\/)/.test(call) && call.includes(objectId));
    expect(row).toBeGreaterThan(0);
    const { written, unsynced } = stateAfter(calls.slice(0, row), files);
    expect([...written]).toEqual([expect.stringMatching(`/${objectId}$`)]);
    // The names of drafts need not be durable.
    expect([...unsynced].filter((path) => !path.endsWith('/.uploads'))).toEqual([]);
    expect(calls.slice(row).some((call) => call.includes('HTTP/1.1 201'))).toBe(true);
  });
});

/** Written files by their final names, and the changes that a power failure could still undo. */
function stateAfter(
  calls: readonly SystemCall[],
  below: string,
): { written: Set<string>; unsynced: Set<string> } {
  const [written, unsynced] = [new Set<string>(), new Set<string>()];
  const isOurs = (path: string | undefined): path is string => path?.startsWith(below) ?? false;
  for (const call of calls) {
    const [, name = '', rest = ''] = /^(\w+)\((.*)$/s.exec(call) ?? [];
    const opened = /^\d+<([^>]+)>/.exec(rest)?.[1];
    const [from, to] = [...rest.matchAll(/"([^"]*)"/g)].map(([, path]) => path);
    if (/write/.test(name) && isOurs(opened)) {
      written.add(opened);
      unsynced.add(opened);
    } else if (/sync/.test(name) && opened) unsynced.delete(opened);
    else if ((name === 'mkdir' || rest.includes('O_CREAT')) && isOurs(from)) unsynced.add(dirname(from));
    else if (name === 'rename' && isOurs(from) && isOurs(to)) {
      for (const paths of [written, unsynced]) if (paths.delete(from)) paths.add(to);
      unsynced.add(dirname(to));
    }
  }
  return { written, unsynced };
}
