/** The sweep removes old bytes without rows and old leftovers of uploads, and nothing else. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Project } from '../../src/projects/project';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { ProjectUpkeep } from '../../src/projects/project-upkeep.service';
import { ProjectRepository } from '../../src/projects/project.repository';
import { DeletedProjects } from '../../src/storage/removal/deleted-projects.service';
import { StorageSweep } from '../../src/storage/sweep/storage-sweep.service';
import { eventually } from '../support/eventually';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';
import { upload } from '../support/uploads';

const HOUR = 3_600;
const SOON_MS = 20_000;
const NIL = '00000000-0000-0000-0000-000000000000';
const NOTHING = { objects: 0, uploads: 0, rowsWithoutBytes: 0 };

let plinth: TestPlinth;
let sweep: StorageSweep;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  sweep = plinth.app.get(StorageSweep);
});
afterAll(() => plinth.stop());

async function prepare(): Promise<{ test: TestProject; project: Project; root: string; fileId: string }> {
  const test = await plinth.createProject({ plan: 'enterprise' });
  const project = (await plinth.app.get(ProjectRegistry).findById(test.id)) as Project;
  await test.service.post(`${test.storage}/buckets`, { name: 'box' });
  const { body } = await upload(test.service, test.storage, 'box', 'kept', { name: 'kept' });
  return { test, project, root: join(plinth.dataDir, 'files', test.id), fileId: body.data.id };
}

/** Bytes as left by a crash before the row was inserted. */
function orphan(root: string): string {
  const id = randomUUID();
  mkdirSync(join(root, id.slice(0, 2)), { recursive: true });
  writeFileSync(join(root, id.slice(0, 2), id), 'orphan');
  return join(root, id.slice(0, 2), id);
}

function leftover(root: string): string {
  mkdirSync(join(root, '.uploads'), { recursive: true });
  const path = join(root, '.uploads', randomUUID());
  writeFileSync(path, 'half');
  return path;
}

async function pathOf(test: TestProject, root: string, fileId: string): Promise<string> {
  const [{ object_id: id }] = await test.sql(`select object_id from storage.files where id = '${fileId}'`);
  return join(root, id.slice(0, 2), id);
}

describe('the sweep', () => {
  it('removes bytes without a row and unfinished uploads older than an hour, and keeps files', async () => {
    const { test, project, root, fileId } = await prepare();
    const [lost, half] = [orphan(root), leftover(root)];
    plinth.clock.move(HOUR + 10);
    expect(await sweep.sweep(project)).toEqual({ objects: 1, uploads: 1, rowsWithoutBytes: 0 });
    plinth.clock.move(-HOUR - 10);
    expect([existsSync(lost), existsSync(half)]).toEqual([false, false]);
    expect((await test.service.get(`${test.storage}/files/${fileId}/download`)).text).toBe('kept');
    expect(await sweep.sweep(project)).toEqual(NOTHING);
  });

  it('keeps bytes younger than an hour, because an upload may be in progress', async () => {
    const { project, root } = await prepare();
    const [young, half] = [orphan(root), leftover(root)];
    expect(await sweep.sweep(project)).toEqual(NOTHING);
    expect([existsSync(young), existsSync(half)]).toEqual([true, true]);
  });

  it('deletes files that are older than their bucket allows, with their bytes, and no others', async () => {
    const { test, root } = await prepare();
    const buckets = `${test.storage}/buckets`;
    await test.service.post(buckets, { name: 'week', delete_after_days: 7 });
    const hook = { url: 'http://127.0.0.1:9/', events: ['file.deleted'] };
    expect((await plinth.admin.post(`/admin/v1/projects/${test.id}/webhooks`, hook)).status).toBe(201);
    const [old = '', changed = ''] = await Promise.all(
      ['old', 'changed'].map(async (name) => {
        const { body } = await upload(test.service, test.storage, 'week', name, { name });
        return body.data.id as string;
      }),
    );
    const path = await pathOf(test, root, old);
    await test.sql(`update storage.files set created_at = created_at - interval '9 days',
      updated_at = updated_at - case id when '${old}' then interval '2 days' else interval '0' end`);
    const names = async (): Promise<string[]> => {
      const rows: { filename: string }[] = await test.sql(
        'select filename from storage.files order by filename',
      );
      return rows.map(({ filename }) => filename);
    };
    await sweep.sweepAll();
    expect(await names()).toEqual(['changed', 'kept', 'old']);
    plinth.clock.move(6 * 24 * HOUR);
    await sweep.sweepAll();
    expect(await names()).toEqual(['changed', 'kept']);
    await eventually(async () => expect(existsSync(path)).toBe(false), SOON_MS);
    const usage = `select sum(files)::int as files from storage.usage where account = '${NIL}'`;
    expect(await test.sql(usage)).toEqual([{ files: 2 }]);
    expect(await test.sql('select event, payload from hooks.deliveries')).toEqual([
      { event: 'file.deleted', payload: expect.anything() },
    ]);
    await test.service.patch(`${buckets}/week`, { delete_after_days: null });
    plinth.clock.move(2 * 24 * HOUR);
    await sweep.sweepAll();
    expect(await names()).toEqual(['changed', 'kept']);
    plinth.clock.move(-8 * 24 * HOUR);
    expect((await test.service.get(`${test.storage}/files/${changed}`)).status).toBe(200);
  });

  it('keeps files that are not objects', async () => {
    const { project, root } = await prepare();
    writeFileSync(join(root, 'README'), 'x');
    mkdirSync(join(root, 'aa'), { recursive: true });
    writeFileSync(join(root, 'aa', 'notes.txt'), 'x');
    plinth.clock.move(HOUR + 10);
    expect(await sweep.sweep(project)).toEqual(NOTHING);
    plinth.clock.move(-HOUR - 10);
    expect(existsSync(join(root, 'aa', 'notes.txt'))).toBe(true);
  });

  it('keeps the files of deleted buckets', async () => {
    const { test, project, fileId } = await prepare();
    await test.service.delete(`${test.storage}/buckets/box`);
    plinth.clock.move(HOUR + 10);
    expect(await sweep.sweep(project)).toEqual(NOTHING);
    plinth.clock.move(-HOUR - 10);
    expect((await test.service.get(`${test.storage}/files/${fileId}/download`)).text).toBe('kept');
  });

  it("removes bytes that arrived after a project's deletion, and keeps those of unknown projects", async () => {
    const { test, root } = await prepare();
    const stranger = join(plinth.dataDir, 'files', 'abcdefghijklmnopqrst');
    const foreign = orphan(stranger);
    await plinth.admin.delete(`/admin/v1/projects/${test.id}`);
    await eventually(async () => expect(existsSync(root)).toBe(false), SOON_MS);
    orphan(root);
    await sweep.sweepAll();
    expect(existsSync(root)).toBe(true);
    plinth.clock.move(HOUR + 10);
    await sweep.sweepAll();
    plinth.clock.move(-HOUR - 10);
    expect([existsSync(root), existsSync(foreign)]).toEqual([false, true]);
  });
});

describe("the sweep's report of lost bytes", () => {
  it('counts the files of a project that has no bytes left', async () => {
    const count = async (): Promise<number> => {
      await sweep.sweepAll();
      const { text } = await plinth.admin.get('/metrics');
      return Number(/^plinth_storage_rows_without_bytes (\d+)$/m.exec(text)?.[1]);
    };
    const { root } = await prepare();
    const before = await count();
    rmSync(root, { recursive: true });
    expect(await count()).toBe(before + 1);
  });

  it('has their number in the metrics, and at most a thousand names in the log', async () => {
    const { test } = await prepare();
    await test.sql(`insert into storage.files (bucket_id, filename, content_type, size, sha256, object_id)
      select (select id from storage.buckets), 'lost-' || n, 'text/plain', 1, repeat('0', 64), gen_random_uuid()
      from generate_series(1, 1500) n`);
    const told: string[] = [];
    const error = (message: unknown): void => void told.push(String(message));
    plinth.app.useLogger({ log: () => undefined, warn: () => undefined, error });
    await sweep.sweepAll();
    const ours = told.filter((line) => line.includes(test.slug));
    expect(ours).toHaveLength(1_001);
    expect(ours[0]).toMatch(/^file [0-9a-f-]{36} of project .* has lost its bytes$/);
    expect(ours.at(-1)).toMatch(/^1500 files of project /);
    const { text } = await plinth.admin.get('/metrics');
    const [, lost] = /^plinth_storage_rows_without_bytes (\d+)$/m.exec(text) ?? [];
    expect(Number(lost)).toBeGreaterThanOrEqual(1_500);
  });
});

describe('the bytes of a deleted project', () => {
  const removeIfDeleted = (id: string): Promise<void> =>
    plinth.app.get(DeletedProjects).removeIfDeleted(id, Infinity);

  it('are removed soon after the deletion', async () => {
    const { test, root } = await prepare();
    expect(existsSync(root)).toBe(true);
    await plinth.admin.delete(`/admin/v1/projects/${test.id}`);
    await eventually(async () => expect(existsSync(root)).toBe(false), SOON_MS);
  });

  it('are removed even if a crash interrupts the deletion, but not before it is complete', async () => {
    const { test, root } = await prepare();
    const repository = plinth.app.get(ProjectRepository);
    // The same steps as the deletion up to the crash; the lock keeps other processes from finishing it.
    await repository.whileLocked(test.id, async () => {
      await repository.markDeleting(test.id);
      await removeIfDeleted(test.id);
      expect(existsSync(root)).toBe(true);
    });
    await plinth.app.get(ProjectUpkeep).recover();
    await eventually(async () => expect(existsSync(root)).toBe(false), 2 * SOON_MS);
  });

  it('are kept if the mounted disk is not the one that holds them', async () => {
    const { test, root } = await prepare();
    const marker = join(plinth.dataDir, 'files', '.plinth-files');
    rmSync(marker);
    await plinth.admin.delete(`/admin/v1/projects/${test.id}`);
    await expect(removeIfDeleted(test.id)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(existsSync(root)).toBe(true);
    writeFileSync(marker, '');
    plinth.clock.move(HOUR + 10);
    await sweep.sweepAll();
    plinth.clock.move(-HOUR - 10);
    expect(existsSync(root)).toBe(false);
  });
});

describe('the check', () => {
  it('reports bytes without a row and rows without bytes, without changes', async () => {
    const { test, project, root, fileId } = await prepare();
    await upload(test.service, test.storage, 'box', 'fine', { name: 'fine' });
    expect(await sweep.check(project)).toEqual({
      objects: 2,
      bytesWithoutRow: { count: 0, size: 0, objectIds: [] },
      rowsWithoutBytes: { count: 0, files: [] },
    });
    const lost = orphan(root);
    rmSync(await pathOf(test, root, fileId));
    plinth.clock.move(HOUR + 10);
    const report = await sweep.check(project);
    plinth.clock.move(-HOUR - 10);
    expect(report).toEqual({
      objects: 2,
      bytesWithoutRow: { count: 1, size: 6, objectIds: [lost.slice(-36)] },
      rowsWithoutBytes: { count: 1, files: [{ id: fileId, filename: 'kept' }] },
    });
    expect(existsSync(lost)).toBe(true);
  });

  it('reports a file whose bytes are incomplete', async () => {
    const { test, project, root, fileId } = await prepare();
    truncateSync(await pathOf(test, root, fileId), 2);
    const { rowsWithoutBytes } = await sweep.check(project);
    expect(rowsWithoutBytes).toEqual({ count: 1, files: [{ id: fileId, filename: 'kept' }] });
  });

  it('finds every loss among more files than one page holds', async () => {
    const { test, project, root } = await prepare();
    await test.sql(`insert into storage.files (bucket_id, filename, content_type, size, sha256, object_id)
      select (select id from storage.buckets), 'lost-' || n, 'text/plain', 1, repeat('0', 64), gen_random_uuid()
      from generate_series(1, 1500) n`);
    for (let n = 0; n < 1_100; n += 1) orphan(root);
    plinth.clock.move(HOUR + 10);
    const report = await sweep.check(project);
    plinth.clock.move(-HOUR - 10);
    expect([report.objects, report.bytesWithoutRow.count, report.rowsWithoutBytes.count]).toEqual([
      1_101, 1_100, 1_500,
    ]);
    expect(report.bytesWithoutRow.objectIds).toHaveLength(1_000);
  });

  it('does not report an unmounted disk as lost bytes', async () => {
    const { project } = await prepare();
    const files = join(plinth.dataDir, 'files');
    renameSync(files, `${files}-away`);
    try {
      await expect(sweep.check(project)).rejects.toMatchObject({ code: 'storage_unavailable' });
      await expect(sweep.sweep(project)).rejects.toMatchObject({ code: 'storage_unavailable' });
    } finally {
      renameSync(`${files}-away`, files);
    }
  });
});
