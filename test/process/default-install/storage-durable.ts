/**
 * When the row of an upload is inserted, the bytes, their name and new directories are durable. A kill does not show this,
 * because the kernel keeps the writes of a dead process, so the test checks the system calls.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from '../../support/eventually';
import { HttpClient } from '../../support/http-client';
import { headOf, rawClient } from '../../support/slow-clients';
import { hasStrace, SystemCall, systemCallsDuring } from '../../support/system-calls';
import { upload } from '../../support/uploads';
import { directory, plinth } from './install';

const CALLS = ['openat', 'mkdir', 'rename', 'write', 'writev', 'pwrite64', 'pwritev', 'fsync', 'fdatasync'];

export const durableUploads = (): void =>
  (hasStrace ? describe : describe.skip)('an upload to the disk', () => {
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
      const calls = await systemCallsDuring(plinth.child.pid as number, CALLS, async () => {
        expect((await upload(service, `/p/${slug}/storage`, 'box', 'x'.repeat(size))).status).toBe(201);
        // The client can receive an answer before strace has recorded the end of the call that sent it.
        expect((await service.get('/health/live')).status).toBe(200);
      });
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
      const { written, unsynced } = stateAfter(calls.slice(0, row), join(directory, 'data/files'));
      expect([...written]).toEqual([expect.stringMatching(`/${objectId}$`)]);
      // The names of drafts need not be durable.
      expect([...unsynced].filter((path) => !path.endsWith('/.uploads'))).toEqual([]);
      expect(calls.slice(row).some((call) => call.includes('HTTP/1.1 201'))).toBe(true);
    });

    it('gets 503 without file descriptors, and 201 with them', async () => {
      const { pid } = plinth.child;
      const former = /Max open files +(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1];
      const limit = (count: string | undefined): unknown =>
        execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`]);
      const { body: project } = await plinth.admin.post('/admin/v1/projects', { name: 'Few', slug: null });
      const key = project.service_role_key;
      const headers = { apikey: key, authorization: `Bearer ${key}` };
      const service = new HttpClient(plinth.baseUrl, headers);
      const storage = `/p/${project.slug}/storage`;
      await service.post(`${storage}/buckets`, { name: 'box' });
      const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
      const body = `${part}${'x'.repeat(300_000)}\r\n--x--\r\n`;
      const framing = { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': body.length };
      const client = rawClient(plinth.baseUrl, headOf(`GET ${storage}/buckets`, headers));
      try {
        // The connection already has its descriptor.
        expect(await client.answered).toMatch(/^HTTP\/1\.1 200/);
        limit('20');
        client.socket.write(headOf(`POST ${storage}/buckets/box/upload`, { ...headers, ...framing }) + body);
        await eventually(async () => expect(client.answer()).toMatch(/HTTP\/1\.1 503[^]*retry-after: \d+/i));
      } finally {
        limit(former);
        client.socket.destroy();
      }
      expect((await upload(service, storage, 'box', 'x'.repeat(300_000))).status).toBe(201);
    });
  });

/** Written files by their final names, and the changes that a power failure could still undo. */
function stateAfter(
  calls: readonly SystemCall[],
  below: string,
): { written: Set<string>; unsynced: Set<string> } {
  const [written, unsynced, syncsItself] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const isOurs = (path: string | undefined): path is string => path?.startsWith(below) ?? false;
  for (const call of calls) {
    const [, name = '', rest = ''] = /^(\w+)\((.*)$/s.exec(call) ?? [];
    const opened = /^\d+<([^>]+)>/.exec(rest)?.[1];
    const [from, to] = [...rest.matchAll(/"([^"]*)"/g)].map(([, path]) => path);
    if (/write/.test(name) && isOurs(opened)) {
      written.add(opened);
      if (!syncsItself.has(opened)) unsynced.add(opened);
    } else if (/sync/.test(name) && opened) unsynced.delete(opened);
    else if ((name === 'mkdir' || rest.includes('O_CREAT')) && isOurs(from)) {
      unsynced.add(dirname(from));
      if (rest.includes('O_DSYNC')) syncsItself.add(from);
    } else if (name === 'rename' && isOurs(from) && isOurs(to)) {
      for (const paths of [written, unsynced]) if (paths.delete(from)) paths.add(to);
      unsynced.add(dirname(to));
    }
  }
  return { written, unsynced };
}
