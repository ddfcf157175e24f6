/**
 * One disk for everything, as in the default install, and not a byte left on it: deleting files makes room again. A small file
 * system in memory stands for the disk; without the right to mount one the test is skipped.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { upload } from '../support/uploads';

const MIB = 1024 * 1024;
const FILES = 6;

const directory = mkdtempSync(join(tmpdir(), 'plinth-full-disk-'));
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', directory], { stdio: 'ignore' }).status ===
  0;

(mounted ? describe : describe.skip)('an install whose only disk is full', () => {
  let plinth: PlinthProcess;
  let service: HttpClient;
  let storage: string;
  let files: string;

  beforeAll(async () => {
    plinth = await PlinthProcess.start({ dataDir: directory, env: { LOG_LEVEL: 'warn' } });
    const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Full', plan: 'enterprise' });
    service = new HttpClient(plinth.baseUrl, {
      apikey: body.service_role_key,
      authorization: `Bearer ${body.service_role_key}`,
    });
    storage = `/p/${body.slug}/storage`;
    files = join(directory, 'data/files', body.id);
    await service.post(`${storage}/buckets`, { name: 'box' });
  }, 120_000);
  afterAll(() => plinth.end('SIGTERM'));

  const objects = (): string[] =>
    readdirSync(files, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [entry.name] : [],
    );

  /** Writes until nothing more fits. */
  function fill(): void {
    mkdirSync(join(directory, 'filler'), { recursive: true });
    const fd = openSync(join(directory, 'filler', 'bytes'), 'a');
    const chunk = randomBytes(MIB);
    try {
      for (let size = chunk.length; size >= 1;) {
        try {
          writeSync(fd, chunk, 0, size);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(fd);
    }
    expect(statfsSync(directory).bavail).toBe(0);
  }

  it('gets the bytes of deleted files back, and takes uploads again', async () => {
    const ids: string[] = [];
    for (let n = 0; n < FILES; n += 1) {
      const { status, body } = await upload(service, storage, 'box', randomBytes(MIB), { name: `file ${n}` });
      expect(status).toBe(201);
      ids.push(body.data.id);
    }
    fill();
    const refused = await upload(service, storage, 'box', randomBytes(MIB), { name: 'one more' });
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect((await service.get(`${storage}/files/${ids[0]}/download`)).status).toBe(200);

    for (const id of ids.slice(1)) expect((await service.delete(`${storage}/files/${id}`)).status).toBe(200);
    await eventually(async () => expect(objects()).toHaveLength(1), 20_000);
    expect(statfsSync(directory).bavail).toBeGreaterThan(0);
    const again = await upload(service, storage, 'box', randomBytes(MIB), { name: 'one more' });
    expect(again.status).toBe(201);
  }, 120_000);
});

afterAll(() => {
  if (mounted) spawnSync('umount', [directory]);
  rmSync(directory, { recursive: true, force: true });
});
