/** Object ids that a project's owner wrote: with every provider, and behind nginx. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { alterObjectIds, objectIds } from '../../support/hostile-tables/hostile-columns';
import {
  addVictim,
  createVictimProject,
  readingOneFile,
  Victim,
} from '../../support/hostile-tables/storage-requests';
import { PROVIDERS, TestProvider } from '../../support/object-servers/object-stores';
import { TestPlinth } from '../../support/plinth';
import { startOn } from '../../support/plinth-on-provider';

const CONTENT = 'the content of the file';

/** A project with one file per id; the id replaces the file's object id. */
async function attackedFiles(plinth: TestPlinth, ids: readonly string[]): Promise<Victim[]> {
  const project = await createVictimProject(plinth);
  const victims: Victim[] = [];
  for (const index of ids.keys()) victims.push(await addVictim(project, CONTENT, `file ${index}`));
  await project.sql(alterObjectIds(new Map(ids.map((id, index) => [`file ${index}`, id]))));
  return victims;
}

describe.each(PROVIDERS)('the provider %s', (_name, startProvider) => {
  let plinth: TestPlinth;
  let provider: TestProvider;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ plinth, provider, stop } = await startOn(startProvider));
  });
  afterAll(() => stop());

  it('receives no request for them and keeps its objects', async () => {
    const neighbour = await addVictim(await createVictimProject(plinth), CONTENT, 'own');
    const [{ object_id: id }] = await neighbour.project.sql('select object_id from storage.files');
    const victims = await attackedFiles(plinth, objectIds([`../${neighbour.project.id}/${id}`]));
    const before = provider.names().sort();
    provider.server?.reset();
    for (const victim of victims) {
      for (const request of readingOneFile(plinth, victim).filter(({ subjects }) =>
        subjects.includes('content'),
      ))
        expect([request.name, (await request.send()).status]).toEqual([request.name, 500]);
      const { service } = victim.project;
      await service.post(`${victim.file}/copy`, { filename: 'copy' });
      await service.post(`${victim.project.storage}/files/bulk-delete`, { file_ids: [victim.fileId] });
      await service.delete(victim.file);
    }
    expect(provider.server?.requests ?? []).toEqual([]);
    expect((await neighbour.project.service.get(`${neighbour.file}/download`)).text).toBe(CONTENT);
    expect(provider.names().sort()).toEqual(before);
  }, 120_000);
});

describe('behind nginx', () => {
  it('none is passed to nginx', async () => {
    const files = mkdtempSync(join(tmpdir(), 'plinth-hostile-ids-'));
    const STORAGE_URL = `${pathToFileURL(files).href}?accel_redirect=/internal-files`;
    const plinth = await TestPlinth.start({ env: { STORAGE_URL } });
    try {
      const victims = await attackedFiles(plinth, objectIds(['../platform-admin-key']));
      for (const victim of victims) {
        for (const request of readingOneFile(plinth, victim)) {
          const { headers } = await request.send();
          expect([request.name, headers.get('x-accel-redirect')]).toEqual([request.name, null]);
        }
      }
    } finally {
      await plinth.stop();
      rmSync(files, { recursive: true });
    }
  }, 120_000);
});
