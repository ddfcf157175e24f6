/** The sweep removes bytes without rows and leftovers of uploads, once they are old, and nothing else. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Project } from '../../src/projects/project';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { StorageSweep } from '../../src/storage/sweep/storage-sweep.service';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';
import { upload } from '../support/uploads';

const HOUR = 3_600;

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

/** What a crash between the bytes and the row leaves. */
function orphan(root: string): string {
  const id = randomUUID();
  mkdirSync(join(root, id.slice(0, 2)), { recursive: true });
  writeFileSync(join(root, id.slice(0, 2), id), 'orphan');
  return join(root, id.slice(0, 2), id);
}

function leftover(root: string): string {
  const path = join(root, '.uploads', randomUUID());
  writeFileSync(path, 'half');
  return path;
}

describe('the sweep', () => {
  it('removes bytes without a row and unfinished uploads older than an hour, and keeps files', async () => {
    const { test, project, root, fileId } = await prepare();
    const [lost, half] = [orphan(root), leftover(root)];
    plinth.clock.move(HOUR + 10);
    expect(await sweep.sweep(project)).toBe(2);
    plinth.clock.move(-HOUR - 10);
    expect([existsSync(lost), existsSync(half)]).toEqual([false, false]);
    expect((await test.service.get(`${test.storage}/files/${fileId}/download`)).text).toBe('kept');
    expect(await sweep.sweep(project)).toBe(0);
  });

  it('leaves alone what is younger than an hour: an upload may be under way', async () => {
    const { project, root } = await prepare();
    const [young, half] = [orphan(root), leftover(root)];
    expect(await sweep.sweep(project)).toBe(0);
    expect([existsSync(young), existsSync(half)]).toEqual([true, true]);
  });

  it('leaves alone what is not its own', async () => {
    const { project, root } = await prepare();
    writeFileSync(join(root, 'README'), 'x');
    mkdirSync(join(root, 'aa'), { recursive: true });
    writeFileSync(join(root, 'aa', 'notes.txt'), 'x');
    plinth.clock.move(HOUR + 10);
    expect(await sweep.sweep(project)).toBe(0);
    plinth.clock.move(-HOUR - 10);
    expect(existsSync(join(root, 'aa', 'notes.txt'))).toBe(true);
  });

  it('keeps the files of deleted buckets', async () => {
    const { test, project, fileId } = await prepare();
    await test.service.delete(`${test.storage}/buckets/box`);
    plinth.clock.move(HOUR + 10);
    expect(await sweep.sweep(project)).toBe(0);
    plinth.clock.move(-HOUR - 10);
    expect((await test.service.get(`${test.storage}/files/${fileId}/download`)).text).toBe('kept');
  });

  it('removes the bytes of a deleted project, and touches no project that it does not know', async () => {
    const { test, root } = await prepare();
    const stranger = join(plinth.dataDir, 'files', 'abcdefghijklmnopqrst');
    const foreign = orphan(stranger);
    await plinth.admin.delete(`/admin/v1/projects/${test.id}`);
    await sweep.sweepAll();
    expect(existsSync(root)).toBe(true);
    plinth.clock.move(HOUR + 10);
    await sweep.sweepAll();
    plinth.clock.move(-HOUR - 10);
    expect([existsSync(root), existsSync(foreign)]).toEqual([false, true]);
  });
});

describe('the check', () => {
  it('reports bytes without a row and rows without bytes, and changes nothing', async () => {
    const { test, project, root, fileId } = await prepare();
    await upload(test.service, test.storage, 'box', 'fine', { name: 'fine' });
    expect(await sweep.check(project)).toEqual({ bytesWithoutRow: [], rowsWithoutBytes: [] });
    const lost = orphan(root);
    const [{ object_id: objectId }] = await test.sql(
      `select object_id from storage.files where id = '${fileId}'`,
    );
    rmSync(join(root, objectId.slice(0, 2), objectId));
    plinth.clock.move(HOUR + 10);
    const report = await sweep.check(project);
    plinth.clock.move(-HOUR - 10);
    expect(report.rowsWithoutBytes).toEqual([{ id: fileId, filename: 'kept' }]);
    expect(report.bytesWithoutRow).toEqual([lost.slice(-36)]);
    expect(existsSync(lost)).toBe(true);
    expect(readdirSync(root)).not.toEqual([]);
  });
});
