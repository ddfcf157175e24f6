/** On a full disk that holds all data, as in the default install, deleting files frees their bytes. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { upload } from '../support/uploads';
import { canMount, SmallDisk } from './support/small-disk';

const MIB = 1024 * 1024;
const FILES = 6;

(canMount ? describe : describe.skip)('an install whose only disk is full (needs the right to mount)', () => {
  let disk: SmallDisk;
  let plinth: PlinthProcess;
  let service: HttpClient;
  let storage: string;
  let files: string;

  beforeAll(async () => {
    disk = SmallDisk.mount('size=400m');
    plinth = await PlinthProcess.start({
      dataDir: disk.directory,
      env: { LOG_LEVEL: 'warn', DISK_RESERVE: '0' },
    });
    const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Full', plan: 'enterprise' });
    service = new HttpClient(plinth.baseUrl, {
      apikey: body.service_role_key,
      authorization: `Bearer ${body.service_role_key}`,
    });
    storage = `/p/${body.slug}/storage`;
    files = join(disk.directory, 'data/files', body.id);
    await service.post(`${storage}/buckets`, { name: 'box' });
  }, 120_000);
  afterAll(async () => {
    await plinth.end('SIGTERM');
    disk.unmount();
  });

  const objects = (): string[] =>
    readdirSync(files, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [entry.name] : [],
    );

  it('frees the bytes of deleted files, and accepts uploads again', async () => {
    const ids: string[] = [];
    for (let n = 0; n < FILES; n += 1) {
      const { status, body } = await upload(service, storage, 'box', randomBytes(MIB), { name: `file ${n}` });
      expect(status).toBe(201);
      ids.push(body.data.id);
    }
    disk.fillTo(0);
    const refused = await upload(service, storage, 'box', randomBytes(MIB), { name: 'one more' });
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect((await service.get(`${storage}/files/${ids[0]}/download`)).status).toBe(200);

    for (const id of ids.slice(1)) expect((await service.delete(`${storage}/files/${id}`)).status).toBe(200);
    await eventually(async () => expect(objects()).toHaveLength(1), 20_000);
    expect(disk.freeBytes).toBeGreaterThan(0);
    const again = await upload(service, storage, 'box', randomBytes(MIB), { name: 'one more' });
    expect(again.status).toBe(201);
  }, 120_000);
});
