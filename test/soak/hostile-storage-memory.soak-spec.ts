/** The server's memory does not grow with tens of megabytes in a row, a function's result or an error of a project. */
import { alterColumn, HostileColumn } from '../support/hostile-tables/hostile-columns';
import {
  addVictim,
  createVictimProject,
  readingRequests,
  Victim,
} from '../support/hostile-tables/storage-requests';
import { mostMemoryAdded } from '../support/memory-probe';
import { TestPlinth } from '../support/plinth';

const MEGABYTE = 1_000_000;
const [SHORT, LONG] = [6, 60] as const;
/** Allowed growth of memory, as a fraction of the difference in length: socket buffers and garbage collection. */
const PART = 1 / 4;

let plinth: TestPlinth;
let victim: Victim;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
beforeEach(async () => {
  victim = await addVictim(await createVictimProject(plinth), 'content', 'victim.txt');
});
afterAll(() => plinth.stop());

/** Sends each of the named requests three times concurrently, twice. */
async function send(names: readonly string[]): Promise<void> {
  const requests = readingRequests(plinth, victim).filter(({ name }) => names.includes(name));
  expect(requests).toHaveLength(names.length);
  for (const request of [...requests, ...requests]) {
    const answers = await Promise.all([request.send(), request.send(), request.send()]);
    for (const { status, text } of answers) expect([status, text.length < 100_000]).toEqual([500, true]);
  }
}

async function expectBounded(
  names: readonly string[],
  alter: (megabytes: number) => Promise<unknown>,
): Promise<void> {
  let growth = Infinity;
  // Garbage collection only adds noise, so the least of three tries counts. A retained value would appear in each.
  for (let tries = 0; tries < 3 && growth >= PART; tries += 1) {
    const added: number[] = [];
    for (const megabytes of [SHORT, LONG]) {
      await alter(megabytes);
      added.push(await mostMemoryAdded(() => send(names)));
    }
    const [short = NaN, long = NaN] = added;
    growth = Math.min(growth, (long - short) / ((LONG - SHORT) * MEGABYTE));
  }
  expect(growth).toBeLessThan(PART);
}

const text = (megabytes: number): string => `repeat('x', ${megabytes * MEGABYTE})`;

const COLUMNS: [HostileColumn['table'], string, string, (megabytes: number) => string, string[]][] = [
  ['files', 'metadata', 'jsonb', (n) => `jsonb_build_object('x', ${text(n)})`, ['show a file', 'list files']],
  [
    'files',
    'metadata',
    'jsonb',
    (n) => `jsonb_build_array(${text(n)})`,
    ['show a file', 'list files by size'],
  ],
  ['files', 'filename', 'text', text, ['show a file', 'list files', 'download', 'preview', 'check']],
  [
    'files',
    'sha256',
    'bytea',
    (n) => `convert_to(${text(n)}, 'UTF8')`,
    ['download', 'open a signed address'],
  ],
  ['buckets', 'description', 'text', text, ['list buckets', 'show a bucket']],
  [
    'buckets',
    'allowed_mime_types',
    'text[]',
    (n) => `array_fill('x'::text, array[${(n * MEGABYTE) / 10}])`,
    ['list buckets', 'show a bucket'],
  ],
];

it.each(COLUMNS)(
  'storage.%s.%s as %s is not retained',
  async (table, name, type, value, names) => {
    const column: HostileColumn = { table, name, refused: [], values: [] };
    await expectBounded(names, (megabytes) =>
      victim.project.sql(alterColumn(column, { value: value(megabytes), type })),
    );
  },
  240_000,
);

it("a function's result is not retained", async () => {
  await expectBounded(['list files', 'list files by name'], (megabytes) =>
    victim.project.sql(`drop function storage.count_visible;
      create function storage.count_visible(bucket uuid, seen uuid) returns text language sql as $$ select ${text(megabytes)} $$;
      update storage.files set updated_at = now()`),
  );
}, 240_000);

it('an error message is not retained', async () => {
  await expectBounded(['search files', 'preview'], (megabytes) =>
    victim.project.sql(`drop policy if exists failing on storage.files;
      create or replace function public.fail() returns boolean language plpgsql as $$ begin
        raise internal_error using message = ${text(megabytes)}, detail = ${text(megabytes)}; end $$;
      create policy failing on storage.files as restrictive using (public.fail())`),
  );
}, 240_000);
