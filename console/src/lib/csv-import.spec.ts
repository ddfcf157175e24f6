import { importCsv, type ImportOutcome } from './csv-import';

class Refusal extends Error {}

/** Imports a file into a table whose rows must not contain `bad`. */
async function importInto(
  text: string,
): Promise<ImportOutcome & { table: (string | null)[]; calls: number }> {
  const table: (string | null)[] = [];
  let calls = 0;
  const outcome = await importCsv({
    file: new Blob([text]),
    signal: new AbortController().signal,
    onState: () => undefined,
    reasonOf: (error) => (error instanceof Refusal ? error.message : null),
    send: async (head, rows) => {
      calls += 1;
      if (head[0] === 'unknown') throw new Error('no such column');
      if (rows.some(({ fields }) => fields[0] === 'bad')) throw new Refusal('it is bad');
      table.push(...rows.map(({ fields }) => fields[0] ?? null));
    },
  });
  return { ...outcome, table, calls };
}

const lines = (count: number, bad: (line: number) => boolean): string =>
  ['name', ...Array.from({ length: count }, (_, at) => (bad(at) ? 'bad' : `row ${at}`))].join('\n');

it('imports all rows, in batches', async () => {
  const { table, calls, imported, refused } = await importInto(lines(1_200, () => false));
  expect([table.length, calls, imported, refused]).toEqual([1_200, 3, 1_200, []]);
});

it('reports refused rows with their lines, and imports the others in their order', async () => {
  const { table, imported, refused, isCut } = await importInto(lines(1_000, (at) => at === 7 || at === 700));
  expect(refused.map(({ line, reason }) => [line, reason])).toEqual([
    [9, 'it is bad'],
    [702, 'it is bad'],
  ]);
  expect([imported, isCut, table.slice(6, 8)]).toEqual([998, false, ['row 6', 'row 8']]);
});

it('stops after a hundred refused rows, and immediately at an error that does not concern a row', async () => {
  const { refused, isCut, calls } = await importInto(lines(5_000, () => true));
  expect([refused.length, isCut]).toEqual([100, true]);
  expect(calls).toBeLessThan(400);
  await expect(importInto('unknown\n1\n2')).rejects.toThrow('no such column');
});

it('imports nothing from an empty file', async () => {
  expect(await importInto('')).toMatchObject({ head: [], imported: 0, calls: 0 });
});
