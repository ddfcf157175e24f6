/** A backup has the state of one moment, whatever changes while it runs. */
import { randomBytes } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { verifyArchive } from '../../../src/backup/archive/open-archive';
import { PASSPHRASE, restore } from '../../support/backups';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

/** More than the buffers between server and client hold. */
const TABLE_ROWS = 300;
/** Objects without a row are removed once they are older than an hour. */
const OVER_AN_HOUR = 3_700;

let plinth: TestPlinth;
let replica: TestPlinth;
let project: TestProject;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  replica = await TestPlinth.start({ replicaOf: plinth });
  project = await plinth.createProject();
}, 60_000);
afterAll(async () => {
  await replica.stop();
  await plinth.stop();
});

async function upload(name: string, content: Buffer, query = ''): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  const answer = await project.service.send('POST', `${project.storage}/buckets/box/upload${query}`, {
    body,
  });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.data.id as string;
}

/** Begins a backup without reading its response. */
function beginBackup(): Promise<IncomingMessage> {
  const headers = { ...plinth.admin.headers, 'backup-passphrase': encodeURIComponent(PASSPHRASE) };
  return new Promise((resolve, reject) => {
    get(`${plinth.baseUrl}/admin/v1/projects/${project.id}/backup`, { headers }, resolve).on('error', reject);
  });
}

const objectsOf = async (): Promise<number> =>
  (await plinth.admin.get(`/admin/v1/projects/${project.id}/storage/check`)).body.objects;

it('contains the files of its snapshot that any process deletes or overwrites during the backup', async () => {
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  const [deleted, overwritten] = [randomBytes(300_000), randomBytes(100_000)];
  const deletedId = await upload('deleted.bin', deleted);
  const overwrittenId = await upload('overwritten.bin', overwritten);
  await project.sql(`create table padding as
    select (select string_agg(md5(random()::text || n || m), '') from generate_series(1, 2000) m) as text
    from generate_series(1, ${TABLE_ROWS}) n`);

  const response = await beginBackup();
  const elsewhere = project.service.at(replica.baseUrl);
  expect((await elsewhere.delete(`${project.storage}/files/${deletedId}`)).status).toBe(200);
  await upload('overwritten.bin', randomBytes(50_000), '?upsert=true');
  await upload('new.bin', randomBytes(1000));
  await project.sql('delete from padding; create table later ()');
  const sweep = await plinth.admin.post(`/admin/v1/projects/${project.id}/storage/sweep`);
  expect(sweep.status).toBe(200);
  const archive = await buffer(response);

  const { manifest } = await verifyArchive(Readable.from([archive]), PASSPHRASE);
  expect(manifest.files).toEqual({ count: 2, bytes: deleted.length + overwritten.length, missing: 0 });
  // The backup kept the bytes from being removed, so a later sweep removes them.
  plinth.clock.move(OVER_AN_HOUR);
  await plinth.admin.post(`/admin/v1/projects/${project.id}/storage/sweep`);
  plinth.clock.move(-OVER_AN_HOUR);
  expect(await objectsOf()).toBe(2);

  expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
  const restored = await restore(plinth, archive, { query: '?keep_keys=true' });
  expect([restored.status, restored.body]).toEqual([201, expect.objectContaining({ files: 2 })]);
  for (const [id, content] of [
    [deletedId, deleted],
    [overwrittenId, overwritten],
  ] as const) {
    const file = await fetch(`${plinth.baseUrl}${project.storage}/files/${id}/download`, {
      headers: project.service.headers,
    });
    expect(Buffer.from(await file.arrayBuffer()).equals(content)).toBe(true);
  }
  expect(await project.sql('select count(*)::int as n from padding')).toEqual([{ n: TABLE_ROWS }]);
  expect(await project.sql(`select to_regclass('later') as later`)).toEqual([{ later: null }]);
}, 120_000);
