/** Quotas of buckets and projects: exact under concurrency, with warnings before they are used up. */
import type { LoggerService } from '@nestjs/common';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { rawExchange, upload, UploadOptions } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let service: HttpClient;
const warnings: string[] = [];

const COLLECTOR: LoggerService = {
  log: () => undefined,
  error: () => undefined,
  warn: (message: unknown) => void warnings.push(String(message)),
};

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  service = project.service;
  plinth.app.useLogger(COLLECTOR);
});
afterAll(() => plinth.stop());

let counter = 0;

interface Box {
  readonly id: string;
  readonly name: string;
  put(size: number, options?: UploadOptions): Promise<HttpAnswer>;
}

async function bucket(limits: object, of: TestProject = project): Promise<Box> {
  const name = `box ${counter++}`;
  const { status, body } = await of.service.post(`${of.storage}/buckets`, { name, ...limits });
  expect(status).toBe(201);
  const put = (size: number, options: UploadOptions = {}): Promise<HttpAnswer> =>
    upload(of.service, of.storage, name, Buffer.alloc(size, 'x'), { name: `file-${counter++}`, ...options });
  return { id: body.data.id, name, put };
}

const refused = { status: 413, body: { data: null, error: { code: 'quota_exceeded', status: 413 } } };
const warning = ({ headers }: HttpAnswer): string | null => headers.get('x-quota-warning');
const statuses = (answers: HttpAnswer[]): number[] => answers.map(({ status }) => status).sort();

/** The recorded totals and the actual totals. */
async function totals(of: TestProject = project): Promise<{ kept: unknown; real: unknown }> {
  const [row] = await of.sql(`
    with real as (
      select coalesce(f.bucket_id, '00000000-0000-0000-0000-000000000000') as account, sum(size) as bytes, count(*) as files
        from storage.files f group by grouping sets ((), (f.bucket_id))
    ), kept as (
      select account, sum(bytes) as bytes, sum(files) as files from storage.usage group by account
    )
    select (select jsonb_object_agg(account, array[bytes, files]) from kept where files <> 0 or bytes <> 0) as kept,
      (select jsonb_object_agg(account, array[bytes, files]) from real where files > 0 and (
         account = '00000000-0000-0000-0000-000000000000' or account in (select id from storage.buckets))) as real`);
  return row as { kept: unknown; real: unknown };
}

async function expectTrueTotals(of?: TestProject): Promise<void> {
  const { kept, real } = await totals(of);
  expect(kept).toEqual(real);
}

describe("a bucket's quota", () => {
  it('accepts files up to the last byte, and answers 413 quota_exceeded for one more', async () => {
    const box = await bucket({ quota_bytes: 1_000 });
    expect((await box.put(600)).status).toBe(201);
    expect(await box.put(401)).toMatchObject(refused);
    expect((await box.put(400)).status).toBe(201);
    expect(await box.put(1)).toMatchObject(refused);
    expect((await box.put(0)).status).toBe(201);
  });

  it('accepts as many files as its limit', async () => {
    const box = await bucket({ quota_files: 2 });
    expect(statuses([await box.put(1), await box.put(1), await box.put(1)])).toEqual([201, 201, 413]);
    expect(await box.put(0)).toMatchObject(refused);
  });

  it('is part of the record, set at creation and changed later by callers whom the policies allow', async () => {
    const owner = project.asSubject();
    const path = `${project.storage}/buckets`;
    const { body } = await owner.post(path, { name: 'mine', quota_bytes: 10, quota_files: 1 });
    expect(body.data).toMatchObject({ quota_bytes: 10, quota_files: 1 });
    const changed = await owner.patch(`${path}/mine`, { quota_bytes: null, quota_files: 7 });
    expect(changed.body.data).toMatchObject({ quota_bytes: null, quota_files: 7 });
    expect((await project.asSubject().patch(`${path}/mine`, { quota_bytes: 99 })).status).toBe(404);
    for (const quota of [0, -1, 1.5, '10', 1e300, {}])
      expect((await owner.patch(`${path}/mine`, { quota_bytes: quota })).status).toBe(400);
  });

  it('is enforced after it was lowered, raised, removed and set again', async () => {
    const box = await bucket({ quota_bytes: 1_000 });
    const set = (quota: number | null): Promise<HttpAnswer> =>
      service.patch(`${project.storage}/buckets/${box.name}`, { quota_bytes: quota });
    await box.put(500);
    await set(400);
    expect(await box.put(1)).toMatchObject(refused);
    await set(600);
    expect(statuses([await box.put(100), await box.put(1)])).toEqual([201, 413]);
    await set(null);
    expect((await box.put(5_000)).status).toBe(201);
    await set(600);
    expect(await box.put(1)).toMatchObject(refused);
  });
});

describe("a project's quota", () => {
  it('counts the files of all buckets', async () => {
    const small = await plinth.createProject({
      plan: 'enterprise',
      settings: { storage_quota_bytes: 1_000, storage_quota_files: 4 },
    });
    const [one, two] = [await bucket({}, small), await bucket({}, small)];
    expect((await one.put(500)).status).toBe(201);
    expect((await two.put(500)).status).toBe(201);
    expect(await one.put(1)).toMatchObject(refused);
    await plinth.admin.patch(`/admin/v1/projects/${small.id}`, { settings: { storage_quota_bytes: null } });
    expect(statuses([await one.put(9_000), await two.put(1), await two.put(1)])).toEqual([201, 201, 413]);
    await expectTrueTotals(small);
  });

  it('counts files of deleted buckets until they are deleted', async () => {
    const small = await plinth.createProject({ plan: 'enterprise', settings: { storage_quota_bytes: 100 } });
    const one = await bucket({}, small);
    const { id } = (await one.put(100)).body.data;
    expect((await small.service.delete(`${small.storage}/buckets/${one.name}`)).status).toBe(200);
    const two = await bucket({}, small);
    expect(await two.put(1)).toMatchObject(refused);
    expect((await small.service.delete(`${small.storage}/files/${id}`)).status).toBe(200);
    expect((await two.put(100)).status).toBe(201);
    await expectTrueTotals(small);
  });
});

describe('totals', () => {
  it('are correct after overwriting, copying, moving and deleting', async () => {
    const [from, to] = [
      await bucket({ quota_bytes: 100 }),
      await bucket({ quota_bytes: 100, quota_files: 2 }),
    ];
    const overwrite = { query: { filename: 'one', upsert: 'true' } };
    const { id } = (await from.put(60, overwrite)).body.data;
    const file = `${project.storage}/files/${id}`;
    // Only the difference counts, as 100 bytes replace 60.
    expect((await from.put(100, overwrite)).status).toBe(200);
    expect(await from.put(101, overwrite)).toMatchObject(refused);
    expect((await from.put(40, overwrite)).status).toBe(200);

    const copy = (filename: string, bucket_name: string): Promise<HttpAnswer> =>
      service.post(`${file}/copy`, { filename, bucket_name });
    expect((await copy('two', from.name)).status).toBe(201);
    expect(await copy('three', from.name)).toMatchObject(refused);
    expect((await copy('a', to.name)).status).toBe(201);
    const { body } = await copy('b', to.name);
    expect(await service.patch(file, { bucket_name: to.name })).toMatchObject(refused);
    await service.delete(`${project.storage}/files/${body.data.id}`);
    expect((await service.patch(file, { bucket_name: to.name })).status).toBe(200);
    expect((await from.put(60)).status).toBe(201);
    await expectTrueTotals();
  });

  it('are correct after a bulk deletion over several buckets, and after one that was refused', async () => {
    const boxes = [await bucket({ quota_files: 10 }), await bucket({ quota_files: 10 })];
    const ids: string[] = [];
    for (const box of boxes) for (let n = 0; n < 10; n += 1) ids.push((await box.put(n)).body.data.id);
    for (const box of boxes) expect(await box.put(1)).toMatchObject(refused);
    await service.post(`${project.storage}/files/bulk-delete`, { file_ids: ids });
    for (const box of boxes) expect((await box.put(1)).status).toBe(201);
    expect((await boxes[0]?.put(1, { name: 'taken' }))?.status).toBe(201);
    expect((await boxes[0]?.put(1, { name: 'taken' }))?.status).toBe(409);
    await expectTrueTotals();
  });

  it("are correct after the owner's SQL: inserts, moves, truncation", async () => {
    const other = await plinth.createProject({ plan: 'enterprise' });
    const [one, two] = [await bucket({ quota_files: 5 }, other), await bucket({}, other)];
    const insert = (count: number): string => `insert into storage.files
      (bucket_id, filename, content_type, size, sha256, object_id)
      select '${one.id}', 'sql-' || gen_random_uuid(), 'text/plain', 7, repeat('0', 64), gen_random_uuid()
        from generate_series(1, ${count})`;
    await other.sql(insert(5));
    await expectTrueTotals(other);
    await expect(other.sql(insert(1))).rejects.toThrow('quota_exceeded');
    await other.sql(`update storage.files set bucket_id = '${two.id}', size = size + 1`);
    await expectTrueTotals(other);
    await other.sql('truncate storage.files');
    await expectTrueTotals(other);
    expect((await one.put(1)).status).toBe(201);
  });
});

describe('concurrent writes', () => {
  it.each([
    [{ quota_bytes: 1_000 }, 100, 10],
    [{ quota_files: 7 }, 10, 7],
  ])('%j: of 30 uploads of %d bytes exactly %d are accepted', async (limits, size, expected) => {
    const box = await bucket(limits);
    const answers = await Promise.all(Array.from({ length: 30 }, () => box.put(size)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(expected);
    expect(answers.filter(({ status }) => status === 413)).toHaveLength(30 - expected);
    await expectTrueTotals();
  });

  it('uploads, overwriting, moves, copies and deletions exceed no quota and keep correct totals', async () => {
    const busy = await plinth.createProject({ plan: 'enterprise', settings: { storage_quota_bytes: 4_000 } });
    const boxes = [
      await bucket({ quota_bytes: 2_000 }, busy),
      await bucket({ quota_bytes: 2_500, quota_files: 20 }, busy),
    ];
    const ids: string[] = [];
    const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
    const act = async (): Promise<number> => {
      const [box, other, kind] = [pick(boxes), pick(boxes), Math.random()];
      const file = `${busy.storage}/files/${pick(ids) ?? '00000000-0000-4000-8000-000000000000'}`;
      if (kind < 0.5) {
        const name = `name-${Math.floor(Math.random() * 30)}`;
        const query: Record<string, string> = kind < 0.4 ? { upsert: 'true' } : {};
        const { status, body } = await box.put(Math.floor(Math.random() * 300), { name, query });
        if (status === 201) ids.push(body.data.id as string);
        return status;
      }
      if (kind < 0.7) return (await busy.service.patch(file, { bucket_name: other.name })).status;
      if (kind < 0.8)
        return (
          await busy.service.post(`${file}/copy`, { filename: `copy-${counter++}`, bucket_name: box.name })
        ).status;
      return (await busy.service.delete(file)).status;
    };
    for (let round = 0; round < 20; round += 1) {
      const outcome = await Promise.all(Array.from({ length: 12 }, act));
      expect([200, 201, 404, 409, 413]).toEqual(expect.arrayContaining(outcome));
      const { kept } = (await totals(busy)) as { kept: Record<string, [number, number]> | null };
      expect(kept?.['00000000-0000-0000-0000-000000000000']?.[0] ?? 0).toBeLessThanOrEqual(4_000);
      expect(kept?.[boxes[0]?.id as string]?.[0] ?? 0).toBeLessThanOrEqual(2_000);
      expect(kept?.[boxes[1]?.id as string]?.[0] ?? 0).toBeLessThanOrEqual(2_500);
      expect(kept?.[boxes[1]?.id as string]?.[1] ?? 0).toBeLessThanOrEqual(20);
    }
    await expectTrueTotals(busy);
  });
});

describe('before the body is read', () => {
  const announce = (box: Box, length: number, query = ''): Promise<string> =>
    rawExchange(
      plinth.baseUrl,
      `POST ${project.storage}/buckets/${encodeURIComponent(box.name)}/upload${query} HTTP/1.1\r\nHost: x\r\n` +
        `apikey: ${project.serviceKey}\r\nAuthorization: Bearer ${project.serviceKey}\r\n` +
        `Content-Type: multipart/form-data; boundary=b\r\nExpect: 100-continue\r\n` +
        `Content-Length: ${length}\r\nConnection: close\r\n\r\n`,
    );

  it('a Content-Length above the quota is refused without reading the body', async () => {
    const box = await bucket({ quota_bytes: 1_000_000 });
    await box.put(10);
    expect(await announce(box, 1_100_000)).toMatch(/^HTTP\/1\.1 413 [^]*quota_exceeded/);
    await box.put(500_000);
    // The upload could replace the half-megabyte file.
    expect(await announce(box, 900_000)).toMatch(/^HTTP\/1\.1 100 /);
    expect(await announce(box, 900_000, '?upsert=false')).toMatch(/^HTTP\/1\.1 413 [^]*quota_exceeded/);
  });

  it('a body without a length is aborted as soon as it exceeds the quota', async () => {
    const box = await bucket({ quota_bytes: 100_000 });
    const answer = await box.put(40_000_000);
    expect(answer).toMatchObject(refused);
  });

  it('a full bucket refuses another file, and accepts one that replaces another', async () => {
    const box = await bucket({ quota_files: 1 });
    await box.put(10, { name: 'only' });
    expect(await announce(box, 1_000, '?upsert=false')).toMatch(/^HTTP\/1\.1 413 [^]*quota_exceeded/);
    expect((await box.put(20, { name: 'only', before: { upsert: 'true' } })).status).toBe(200);
    expect((await box.put(30, { name: 'only', query: { upsert: 'true' } })).status).toBe(200);
    expect(await box.put(30, { name: 'second', query: { upsert: 'true' } })).toMatchObject(refused);
  });
});

describe('warnings', () => {
  it('at 80 and 95 %: a header on each upload, a log event on each crossing', async () => {
    const box = await bucket({ quota_bytes: 1_000 });
    const events = (): string[] => warnings.filter((text) => text.includes(box.id));
    expect(warning(await box.put(799))).toBeNull();
    expect(warning(await box.put(1))).toBe('bucket=80');
    expect(events()).toEqual([expect.stringMatching(/^quota_warning: 80 % .*bucket/)]);
    expect(warning(await box.put(100))).toBe('bucket=80');
    expect(events()).toHaveLength(1);
    const last = await box.put(50);
    expect(warning(last)).toBe('bucket=95');
    expect(events()[1]).toMatch(/^quota_warning: 95 %/);
    await service.delete(`${project.storage}/files/${last.body.data.id}`);
    expect(warning(await box.put(50))).toBe('bucket=95');
    expect(events()).toHaveLength(3);
  });

  it('are logged once, even when many uploads cross the mark together', async () => {
    const box = await bucket({ quota_files: 20 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => box.put(1)));
    expect(statuses(answers)).toEqual(Array<number>(20).fill(201));
    expect(warnings.filter((text) => text.includes(box.id))).toHaveLength(2);
    // Concurrent commits do not see each other, so at most the last five uploads send the header.
    const warned = answers.filter((answer) => warning(answer) !== null);
    expect(warned.length).toBeGreaterThan(0);
    expect(warned.length).toBeLessThanOrEqual(5);
  });

  it('cause no deadlock when many uploads cross the mark repeatedly', async () => {
    for (let round = 0; round < 6; round += 1) {
      const box = await bucket({ quota_files: 20 });
      const answers = await Promise.all(Array.from({ length: 20 }, () => box.put(1)));
      expect(statuses(answers)).toEqual(Array<number>(20).fill(201));
    }
  });

  it("apply to the project's quota, and to copies and moves", async () => {
    const small = await plinth.createProject({ plan: 'enterprise', settings: { storage_quota_files: 5 } });
    const [one, two] = [await bucket({}, small), await bucket({ quota_files: 1 }, small)];
    const { id } = (await one.put(1)).body.data;
    for (let n = 0; n < 2; n += 1) expect(warning(await one.put(1))).toBeNull();
    const file = `${small.storage}/files/${id}`;
    expect(warning(await small.service.post(`${file}/copy`, { filename: 'copy' }))).toBe('project=80');
    expect(warning(await small.service.patch(file, { bucket_name: two.name }))).toBe('bucket=95');
  });
});
