/** A full disk, which is a small file system in memory, unless the privilege to mount one is missing; and the limit for all files. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../../support/eventually';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { filesOnDisk } from '../../support/stored-objects';
import { upload } from '../../support/uploads';

const MIB = 1024 * 1024;
const directory = mkdtempSync(join(tmpdir(), 'plinth-full-'));
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', directory], { stdio: 'ignore' }).status === 0;

(mounted ? describe : describe.skip)('a full disk', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  beforeAll(async () => {
    plinth = await TestPlinth.start({
      env: { STORAGE_URL: pathToFileURL(join(directory, 'files')).href, DISK_RESERVE: '0' },
    });
    project = await plinth.createProject({ plan: 'enterprise' });
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  });
  afterAll(() => plinth.stop());

  const send = (bytes: number, name: string): ReturnType<typeof upload> =>
    upload(project.service, project.storage, 'box', randomBytes(bytes), { name });

  function objects(): string[] {
    const root = join(directory, 'files', project.id);
    return readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [entry.name] : [],
    );
  }

  it('answers 503 storage_unavailable, keeps no part of the file, and works again once there is space', async () => {
    const stored = [await send(MIB, 'one'), await send(MIB, 'two')];
    expect(stored.map(({ status }) => status)).toEqual([201, 201]);
    for (let n = 0; n < 5; n += 1) {
      const { status, body } = await send(3 * MIB, 'too large');
      expect([status, body.error.code]).toEqual([503, 'storage_unavailable']);
    }
    expect(objects()).toHaveLength(2);
    const listed = await project.service.get(`${project.storage}/buckets/box/files`);
    expect(listed.body.data).toHaveLength(2);
    // Existing files can be read, and files that still fit are accepted.
    const download = `${project.storage}/files/${stored[0]?.body.data.id}/download`;
    expect((await project.service.get(download)).status).toBe(200);
    expect((await send(MIB / 2, 'fits')).status).toBe(201);

    for (const { body } of stored) await project.service.delete(`${project.storage}/files/${body.data.id}`);
    await eventually(async () => expect(objects()).toHaveLength(1));
    expect((await send(3 * MIB, 'too large')).status).toBe(201);
  });

  it('keeps no part of a small file either, which is written directly to its final path', async () => {
    // Not a multiple of the file system's block size, so that the last file is written partly.
    const size = 50_001;
    const answers: Awaited<ReturnType<typeof send>>[] = [];
    while (answers.at(-1)?.status !== 503 && answers.length < 100)
      answers.push(await send(size, `small ${answers.length}`));
    const { status, body } = answers.pop() as (typeof answers)[number];
    expect([status, body.error?.code]).toEqual([503, 'storage_unavailable']);
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 201));
    const rows = await project.sql('select object_id from storage.files');
    expect(objects().sort()).toEqual(rows.map((row: { object_id: string }) => row.object_id).sort());

    const [first] = answers;
    await project.service.delete(`${project.storage}/files/${first?.body.data.id}`);
    await eventually(async () => expect(objects()).toHaveLength(rows.length - 1));
    expect((await send(size, 'fits again')).status).toBe(201);
  });
});

/** PostgreSQL's error when a table of the queue cannot grow on a full disk. */
const TAKES_NO_JOB = `
  create function queue.refuse() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
  create trigger refuse before insert or update on queue.job for each row execute function queue.refuse();`;

describe('a database that accepts no job because its disk is full', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  beforeAll(async () => {
    plinth = await TestPlinth.start();
    project = await plinth.createProject({ plan: 'enterprise' });
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    await asSuperuser(plinth.platformDatabase, (client) => client.query(TAKES_NO_JOB));
  });
  afterAll(() => plinth.stop());

  const put = async (name: string, query = {}): Promise<string> =>
    (await upload(project.service, project.storage, 'box', name, { name, query })).body.data.id;
  const expectLeft = (count: number): Promise<void> =>
    eventually(async () => expect(filesOnDisk(plinth, project.id)).toHaveLength(count));

  it('does not prevent the removal of deleted, overwritten and refused bytes', async () => {
    const { service, storage } = project;
    const ids = await Promise.all(['one', 'two', 'three', 'four'].map((name) => put(name)));
    await expectLeft(4);
    expect((await service.delete(`${storage}/files/${ids[0]}`)).status).toBe(200);
    await expectLeft(3);
    const bulk = await service.post(`${storage}/files/bulk-delete`, { file_ids: ids.slice(1, 3) });
    expect(bulk.body.data.deleted).toHaveLength(2);
    await expectLeft(1);
    await put('four', { upsert: 'true' });
    expect((await upload(service, storage, 'box', 'again', { name: 'four' })).status).toBe(409);
    await expectLeft(1);
  });

  it('does not prevent the removal of many files deleted together', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => put(`many ${n}`)));
    const answers = await Promise.all(
      ids.map((id) => project.service.delete(`${project.storage}/files/${id}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    await expectLeft(1);
  });

  it("does not prevent the removal of a deleted project's bytes", async () => {
    const gone = await plinth.createProject({ plan: 'enterprise' });
    await gone.service.post(`${gone.storage}/buckets`, { name: 'box' });
    await upload(gone.service, gone.storage, 'box', 'bytes', { name: 'file' });
    expect((await plinth.admin.delete(`/admin/v1/projects/${gone.id}`)).status).toBeLessThan(300);
    await eventually(
      async () => expect(readdirSync(join(plinth.dataDir, 'files'))).not.toContain(gone.id),
      20_000,
    );
  });
});

afterAll(() => {
  if (mounted) spawnSync('umount', [directory]);
  rmSync(directory, { recursive: true, force: true });
});

it('a limit for the files of all projects counts each file once', async () => {
  const files = mkdtempSync(join(tmpdir(), 'plinth-limit-'));
  const plinth = await TestPlinth.start({ env: { STORAGE_URL: `${pathToFileURL(files).href}?limit=10MiB` } });
  try {
    const { service, storage } = await plinth.createProject({ plan: 'enterprise' });
    await service.post(`${storage}/buckets`, { name: 'box' });
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    const sent = await service.send('POST', `${storage}/v1/upload/resumable`, {
      body: 'x'.repeat(4 * MIB),
      headers: {
        'tus-resumable': '1.0.0',
        'upload-length': String(4 * MIB),
        'upload-metadata': `bucketName ${encoded('box')},objectName ${encoded('one')}`,
        'content-type': 'application/offset+octet-stream',
      },
    });
    expect(sent.status).toBe(201);
    const send = (name: string): ReturnType<typeof upload> =>
      upload(service, storage, 'box', randomBytes(4 * MIB), { name });
    expect([(await send('two')).status, (await send('three')).status]).toEqual([201, 503]);
  } finally {
    await plinth.stop();
    rmSync(files, { recursive: true, force: true });
  }
});
