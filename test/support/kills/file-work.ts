/**
 * Uploads, overwrites, moves and deletions of files on a provider. All acknowledged changes persist, every row has its bytes, and
 * after one sweep all bytes have a row.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { IN_SOAK } from '../extent';
import type { HttpAnswer } from '../http-client';
import type { TestProvider } from '../object-servers/object-stores';
import { upload } from '../uploads';
import {
  type KilledInstall,
  type KilledProject,
  repeatUntilKilled,
  sha256,
  type Work,
} from './killed-install';

const WORKERS = IN_SOAK ? 8 : 4;
const REST_MS = 100;
const SLOTS_OF_WORKER = 12;
const BUCKETS = ['box', 'shelf'];
/**
 * Number of kills after which all files are downloaded, as after the last kill; after every kill, the changed
 * files are downloaded.
 */
const FULL_CHECK_EVERY = 50;

interface FileState {
  readonly id: string | null;
  readonly bucket: string;
  readonly name: string;
  readonly sha256: string;
}

/**
 * The possible states of one file. Between a request and its response there are two; if the process is killed
 * in between, both remain possible.
 */
interface Slot {
  possible: readonly (FileState | null)[];
  changed: boolean;
  /** True after a request was answered with 503, as on a busy machine: both states stay possible until the next verification. */
  rests: boolean;
}

interface ListedFile {
  readonly id: string;
  readonly bucket_slug: string;
  readonly filename: string;
  readonly sha256: string;
}

/** Thrown for a response that asks for another attempt, because the server had no capacity. */
class Refused extends Error {}

/** @throws Refused for a response with 503 */
function assertDone(answer: HttpAnswer, expected: number): HttpAnswer {
  if (answer.status === 503) throw new Refused(answer.text);
  expect([answer.status, answer.text]).toEqual([expected, expect.any(String)]);
  return answer;
}

const anyOf = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T;

/** Small files, some larger files, and a few that are uploaded in parts. */
function content(): Buffer {
  const limit = anyOf([...Array<number>(IN_SOAK ? 6 : 12).fill(20_000), 3_000_000, 12_000_000]);
  return randomBytes(randomInt(1, limit));
}

const stored = (bucket: string, name: string, bytes: Buffer, id: string | null = null): FileState => ({
  id,
  bucket,
  name,
  sha256: sha256(bytes),
});

export class FileWork implements Work {
  acknowledged = 0;
  /** Numbers of acknowledged and interrupted operations, and results of the sweeps. */
  readonly figures: Record<string, number> = {};
  project!: KilledProject;
  private readonly slots: Slot[] = Array.from({ length: WORKERS * SLOTS_OF_WORKER }, () => ({
    possible: [null],
    changed: false,
    rests: false,
  }));
  private names = 0;
  private verified = 0;

  constructor(
    private readonly install: KilledInstall,
    private readonly provider: TestProvider,
  ) {}

  async prepare(): Promise<void> {
    this.project = await this.install.create('Files');
    for (const name of BUCKETS)
      await this.install.service(this.project).post(`${this.storage}/buckets`, { name });
  }

  run(): Promise<unknown> {
    const workers = Array.from({ length: WORKERS }, (_, worker) => {
      const own = this.slots.slice(worker * SLOTS_OF_WORKER, (worker + 1) * SLOTS_OF_WORKER);
      return repeatUntilKilled(() => this.operate(own.filter(({ rests }) => !rests)));
    });
    return Promise.all(workers);
  }

  async verify(isLast: boolean): Promise<void> {
    // Discards the recorded requests, which would fill the memory.
    this.provider.server?.reset();
    this.verified += 1;
    await this.verifyFiles(isLast || this.verified % FULL_CHECK_EVERY === 0);
    await this.verifyBytesAndRows();
  }

  private get storage(): string {
    return `/p/${this.project.slug}/storage`;
  }

  private count(name: string, by = 1): void {
    this.figures[name] = (this.figures[name] ?? 0) + by;
  }

  private async operate(free: readonly Slot[]): Promise<void> {
    // Lets the other works continue until the process has ended.
    if (free.length === 0) return sleep(REST_MS);
    const slot = anyOf(free);
    const before = slot.possible[0] as FileState | null;
    const operation =
      before === null ? 'upload' : anyOf(['overwrite', 'overwrite', 'move', 'delete'] as const);
    slot.changed = true;
    try {
      if (operation === 'delete') await this.remove(slot, before as FileState);
      else if (operation === 'move') await this.move(slot, before as FileState);
      else await this.put(slot, before);
    } catch (error) {
      slot.rests = error instanceof Refused;
      this.count(`${operation} ${slot.rests ? 'refused' : 'broken off'}`);
      if (slot.rests) return;
      throw error;
    }
    this.count(operation);
    this.acknowledged += 1;
  }

  private async put(slot: Slot, before: FileState | null): Promise<void> {
    const bytes = content();
    const { bucket, name } = before ?? { bucket: anyOf(BUCKETS), name: `file-${(this.names += 1)}` };
    const after = stored(bucket, name, bytes, before?.id);
    slot.possible = [before, after];
    const options = { name, query: { upsert: String(before !== null) } };
    const service = this.install.service(this.project);
    const answer = await upload(service, this.storage, bucket, bytes, options);
    const { body } = assertDone(answer, before ? 200 : 201);
    slot.possible = [{ ...after, id: body.data.id }];
  }

  private async move(slot: Slot, before: FileState): Promise<void> {
    const after = { ...before, bucket: anyOf(BUCKETS), name: `file-${(this.names += 1)}` };
    slot.possible = [before, after];
    const change = { filename: after.name, bucket_name: after.bucket };
    const service = this.install.service(this.project);
    assertDone(await service.patch(`${this.storage}/files/${before.id}`, change), 200);
    slot.possible = [after];
  }

  private async remove(slot: Slot, before: FileState): Promise<void> {
    slot.possible = [before, null];
    const service = this.install.service(this.project);
    assertDone(await service.delete(`${this.storage}/files/${before.id}`), 200);
    slot.possible = [null];
  }

  private async listAll(): Promise<Map<string, ListedFile>> {
    const files = new Map<string, ListedFile>();
    for (const bucket of BUCKETS) {
      const path = `${this.storage}/buckets/${bucket}/files?limit=1000`;
      const { status, body } = await this.install.service(this.project).get(path);
      expect(status).toBe(200);
      for (const file of body.data as ListedFile[]) files.set(`${bucket}/${file.filename}`, file);
    }
    return files;
  }

  /** Checks that every file is in a state that its last request allows, and that there are no other files. */
  private async verifyFiles(all: boolean): Promise<void> {
    const listed = await this.listAll();
    for (const slot of this.slots) {
      const [state] = slot.possible.filter((possible) => {
        if (possible === null) return false;
        const file = listed.get(`${possible.bucket}/${possible.name}`);
        return file?.sha256 === possible.sha256 && (possible.id ?? file.id) === file.id;
      });
      if (!state && !slot.possible.includes(null)) throw new Error(`lost: ${JSON.stringify(slot.possible)}`);
      slot.rests = false;
      const key = state && `${state.bucket}/${state.name}`;
      slot.possible = [state && key ? { ...state, id: (listed.get(key) as ListedFile).id } : null];
      if (key) listed.delete(key);
    }
    expect([...listed.keys()]).toEqual([]);
    for (const slot of this.slots) if (all || slot.changed) await this.verifyBytes(slot);
  }

  private async verifyBytes(slot: Slot): Promise<void> {
    slot.changed = false;
    const [state] = slot.possible;
    if (!state) return;
    const path = `${this.install.plinth.baseUrl}${this.storage}/files/${state.id}/download`;
    const response = await fetch(path, { headers: this.install.service(this.project).headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([response.status, sha256(bytes)]).toEqual([200, state.sha256]);
    this.count('downloads verified');
  }

  /** Compares bytes and rows without the product, by listing the provider and by SQL. */
  private async verifyBytesAndRows(): Promise<void> {
    this.count('objects without a row before a sweep', (await this.orphans()).length);
    this.count('unfinished uploads before a sweep', this.provider.unfinished());
    const { status, body } = await this.install.admin.post(
      `/admin/v1/projects/${this.project.id}/storage/sweep`,
    );
    expect([status, body.rows_without_bytes]).toEqual([200, 0]);
    expect([await this.orphans(), this.provider.unfinished()]).toEqual([[], 0]);
  }

  /** Objects without a row. Fails if a row has no bytes. */
  private async orphans(): Promise<string[]> {
    const query = 'select object_id, size from storage.files';
    const { body } = await this.install.sql(this.project.id, query);
    const rows = body.rows as { object_id: string; size: string }[];
    const sizes = new Map(
      [...this.provider.sizes()]
        .filter(([name]) => name.startsWith(`${this.project.id}/`))
        .map(([name, size]) => [name.split('/').at(-1) as string, size]),
    );
    for (const { object_id: id, size } of rows) expect([id, sizes.get(id)]).toEqual([id, Number(size)]);
    const known = new Set(rows.map(({ object_id: id }) => id));
    return [...sizes.keys()].filter((id) => !known.has(id));
  }
}
