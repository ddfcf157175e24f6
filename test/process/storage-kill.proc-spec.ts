/**
 * kill -9 at random moments during uploads, overwrites, moves and deletions of files, on each provider. All acknowledged
 * changes persist, every row has its bytes, and after one sweep all bytes have a row. PLINTH_STORAGE_KILLS sets how often
 * (default 2, and 50 in a soak). Only Plinth dies; its PostgreSQL runs on, so that a thousand kills take minutes (kill.proc-spec.ts kills both).
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { eventually, until } from '../support/eventually';
import { casesOf, IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { PROVIDERS, TestProvider } from '../support/object-servers/object-stores';
import { PlinthProcess } from '../support/plinth-process';
import { upload } from '../support/uploads';

const KILLS = Number(process.env.PLINTH_STORAGE_KILLS ?? (IN_SOAK ? 50 : 2));
const HOUR_MS = 3_600_000;
const WORKERS = 8;
const SLOTS_OF_WORKER = 12;
const BUCKETS = ['box', 'shelf'];
/** Changed files are downloaded after every kill, all files after this number of kills. */
const FULL_CHECK_EVERY = 50;
/** The database need not survive a power failure. */
const VOLATILE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

interface FileState {
  readonly id: string | null;
  readonly bucket: string;
  readonly name: string;
  readonly sha256: string;
}

/** The possible states of one file. Between a request and its response there are two, and after a kill they remain. */
interface Slot {
  possible: readonly (FileState | null)[];
  changed: boolean;
}

interface ListedFile {
  readonly id: string;
  readonly bucket_slug: string;
  readonly filename: string;
  readonly sha256: string;
}

let slots: Slot[];
/** Numbers of acknowledged and interrupted operations, and the results of the sweeps. */
let figures: Record<string, number>;
let provider: TestProvider;
let directory: string;
let postgres: EmbeddedPostgres;
let keys: { id: string; slug: string; service_role_key: string };
let names = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-storage-kill-'));
  postgres = await EmbeddedPostgres.start({ dataDir: join(directory, 'cluster'), settings: VOLATILE });
}, 120_000);
afterAll(async () => {
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** @param orphanAgeMs after which bytes without a row may be removed */
function start(orphanAgeMs = 200): Promise<PlinthProcess> {
  const database = new URL(`/plinth_${provider.name}`, postgres.url).href;
  return PlinthProcess.start({
    dataDir: directory,
    tuning: { orphanAgeMs },
    env: {
      ...provider.env,
      DATABASE_URL: database,
      MASTER_KEY: 'kill-master-key-0123456789-0123456789',
    },
  });
}

const service = (plinth: PlinthProcess): HttpClient =>
  new HttpClient(plinth.baseUrl, {
    apikey: keys.service_role_key,
    authorization: `Bearer ${keys.service_role_key}`,
  });
const base = (): string => `/p/${keys.slug}/storage`;
const count = (name: string, by = 1): void => void (figures[name] = (figures[name] ?? 0) + by);
const anyOf = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T;

/** Small files, some that take longer, and a few that are uploaded in parts. */
function content(): Buffer {
  const limit = anyOf([20_000, 20_000, 20_000, 20_000, 20_000, 20_000, 3_000_000, 12_000_000]);
  return randomBytes(randomInt(1, limit));
}

function stored(bucket: string, name: string, bytes: Buffer, id: string | null = null): FileState {
  return { id, bucket, name, sha256: createHash('sha256').update(bytes).digest('hex') };
}

async function put(plinth: PlinthProcess, slot: Slot, before: FileState | null): Promise<void> {
  const bytes = content();
  const { bucket, name } = before ?? { bucket: anyOf(BUCKETS), name: `file-${(names += 1)}` };
  const after = stored(bucket, name, bytes, before?.id);
  slot.possible = [before, after];
  const query = { upsert: String(before !== null) };
  const { status, body } = await upload(service(plinth), base(), bucket, bytes, { name, query });
  expect(status).toBe(before ? 200 : 201);
  slot.possible = [{ ...after, id: body.data.id }];
}

async function move(plinth: PlinthProcess, slot: Slot, before: FileState): Promise<void> {
  const after = { ...before, bucket: anyOf(BUCKETS), name: `file-${(names += 1)}` };
  slot.possible = [before, after];
  const change = { filename: after.name, bucket_name: after.bucket };
  const { status } = await service(plinth).patch(`${base()}/files/${before.id}`, change);
  expect(status).toBe(200);
  slot.possible = [after];
}

async function remove(plinth: PlinthProcess, slot: Slot, before: FileState): Promise<void> {
  slot.possible = [before, null];
  const { status } = await service(plinth).delete(`${base()}/files/${before.id}`);
  expect(status).toBe(200);
  slot.possible = [null];
}

async function operate(plinth: PlinthProcess, slot: Slot): Promise<void> {
  const before = slot.possible[0] as FileState | null;
  const operation = before === null ? 'upload' : anyOf(['overwrite', 'overwrite', 'move', 'delete'] as const);
  slot.changed = true;
  try {
    if (operation === 'delete') await remove(plinth, slot, before as FileState);
    else if (operation === 'move') await move(plinth, slot, before as FileState);
    else await put(plinth, slot, before);
  } catch (error) {
    count(`${operation} broken off`);
    throw error;
  }
  count(operation);
}

/** An interrupted request was not acknowledged; an unexpected response fails the test. */
async function workUntilKilled(plinth: PlinthProcess, own: readonly Slot[]): Promise<void> {
  for (;;) {
    try {
      await operate(plinth, anyOf(own));
    } catch (error) {
      // fetch throws a TypeError after a lost connection; instanceof would compare with Jest's own class.
      if ((error as Error).name === 'TypeError') return;
      throw error;
    }
  }
}

async function listAll(plinth: PlinthProcess): Promise<Map<string, ListedFile>> {
  const files = new Map<string, ListedFile>();
  for (const bucket of BUCKETS) {
    const { status, body } = await service(plinth).get(`${base()}/buckets/${bucket}/files?limit=1000`);
    expect(status).toBe(200);
    for (const file of body.data as ListedFile[]) files.set(`${bucket}/${file.filename}`, file);
  }
  return files;
}

/** Every file is in a state that its last request allows, and there are no other files. */
async function verifyFiles(plinth: PlinthProcess, all: boolean): Promise<void> {
  const listed = await listAll(plinth);
  for (const slot of slots) {
    const found = slot.possible.filter((state) => {
      if (state === null) return false;
      const file = listed.get(`${state.bucket}/${state.name}`);
      return file?.sha256 === state.sha256 && (state.id ?? file.id) === file.id;
    }) as FileState[];
    if (found.length === 0 && !slot.possible.includes(null))
      throw new Error(`lost: ${JSON.stringify(slot.possible)}`);
    const [state] = found;
    const key = state && `${state.bucket}/${state.name}`;
    slot.possible = [state && key ? { ...state, id: (listed.get(key) as ListedFile).id } : null];
    if (key) listed.delete(key);
  }
  expect([...listed.keys()]).toEqual([]);
  for (const slot of slots) if (all || slot.changed) await verifyBytes(plinth, slot);
}

async function verifyBytes(plinth: PlinthProcess, slot: Slot): Promise<void> {
  slot.changed = false;
  const [state] = slot.possible;
  if (!state) return;
  const response = await fetch(`${plinth.baseUrl}${base()}/files/${state.id}/download`, {
    headers: service(plinth).headers,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect([response.status, stored('', '', bytes).sha256]).toEqual([200, state.sha256]);
  count('downloads verified');
}

/** Compares bytes and rows without the product, by listing the provider and by SQL. */
async function verifyBytesAndRows(plinth: PlinthProcess): Promise<void> {
  count('objects without a row before a sweep', (await orphans(plinth)).length);
  count('unfinished uploads before a sweep', provider.unfinished());
  const { status, body } = await plinth.admin.post(`/admin/v1/projects/${keys.id}/storage/sweep`);
  expect([status, body.rows_without_bytes]).toEqual([200, 0]);
  expect([await orphans(plinth), provider.unfinished()]).toEqual([[], 0]);
}

/** Objects without a row. Fails if a row has no bytes. */
async function orphans(plinth: PlinthProcess): Promise<string[]> {
  const { body } = await plinth.admin.post(`/admin/v1/projects/${keys.id}/sql`, {
    query: 'select object_id, size from storage.files',
  });
  const rows = new Map(
    (body.rows as { object_id: string; size: string }[]).map((r) => [r.object_id, r.size]),
  );
  const sizes = new Map(
    [...provider.sizes()].map(([name, size]) => [name.split('/').at(-1) as string, size]),
  );
  for (const [objectId, size] of rows)
    expect([objectId, sizes.get(objectId)]).toEqual([objectId, Number(size)]);
  return [...sizes.keys()].filter((objectId) => !rows.has(objectId));
}

describe.each(casesOf(PROVIDERS, 1))('on %s', (_name, startProvider) => {
  beforeAll(async () => {
    provider = await startProvider();
    figures = {};
    slots = Array.from({ length: WORKERS * SLOTS_OF_WORKER }, () => ({ possible: [null], changed: false }));
  });
  afterAll(async () => {
    await provider.stop();
    if (process.env.PLINTH_STORAGE_KILLS)
      process.stdout.write(`${provider.name}: ${JSON.stringify(figures)}\n`);
  });

  it(
    `${KILLS} times: keeps every acknowledged file and the bytes of every row, and leaves no other bytes after a sweep`,
    async () => {
      let plinth = await start();
      const created = await plinth.admin.post('/admin/v1/projects', { name: 'Kill', plan: 'enterprise' });
      keys = created.body;
      for (const name of BUCKETS) await service(plinth).post(`${base()}/buckets`, { name });
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const running = plinth;
        const work = Array.from({ length: WORKERS }, (_, worker) =>
          workUntilKilled(running, slots.slice(worker * SLOTS_OF_WORKER, (worker + 1) * SLOTS_OF_WORKER)),
        );
        // On a busy machine, the first requests take longer than a kill.
        if (kill === 1) await until(() => (figures.upload ?? 0) > 0, 30_000);
        await new Promise((resolve) => setTimeout(resolve, randomInt(20, 600)));
        await plinth.end('SIGKILL');
        await Promise.all(work);
        // Discard the recorded requests, which would fill the memory.
        provider.server?.reset();
        plinth = await start();
        await verifyFiles(plinth, kill % FULL_CHECK_EVERY === 0 || kill === KILLS);
        await verifyBytesAndRows(plinth);
        count('kills');
      }
      expect(figures.upload).toBeGreaterThan(0);
      expect(await plinth.end('SIGTERM')).toBe(0);
    },
    120_000 + KILLS * 30_000,
  );

  it('a deleted project leaves no bytes, even if the server is killed right after the deletion', async () => {
    const plinth = await start(HOUR_MS);
    const left = (): string[] => provider.names().filter((name) => name.startsWith(`${keys.id}/`));
    expect(left().length).toBeGreaterThan(0);
    expect((await plinth.admin.delete(`/admin/v1/projects/${keys.id}`)).status).toBe(200);
    await plinth.end('SIGKILL');
    const next = await start(HOUR_MS);
    await eventually(async () => expect(left()).toEqual([]), 60_000);
    expect(await next.end('SIGTERM')).toBe(0);
  }, 120_000);
});
