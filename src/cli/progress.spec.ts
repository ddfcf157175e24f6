import { withProgress } from './progress';

const SECOND = 1_000;

afterEach(() => void jest.restoreAllMocks());

/** The output while this many chunks of 1 MiB pass, one in each second. */
async function printed(isTerminal: boolean, total: number | null, chunks: number): Promise<string> {
  let [now, text] = [0, ''];
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const write = (line: string): void => void (text += line);
  const progress = withProgress({ label: 'Restoring a.tar', total, isTerminal, write });
  progress.resume();
  for (let n = 0; n < chunks; n += 1) {
    now += SECOND;
    await new Promise((resolve) => progress.write(Buffer.alloc(1024 * 1024), resolve));
  }
  await new Promise<void>((resolve) => progress.end(resolve));
  return text;
}

it('draws a bar over itself on a terminal', async () => {
  const text = await printed(true, 4 * 1024 * 1024, 4);
  expect(
    text
      .split('\r')
      .slice(1)
      .map((line) => line.trimEnd()),
  ).toEqual([
    `Restoring a.tar  [${'#'.repeat(8)}${' '.repeat(22)}] 25 %  1.0 MiB`,
    `Restoring a.tar  [${'#'.repeat(15)}${' '.repeat(15)}] 50 %  2.0 MiB`,
    `Restoring a.tar  [${'#'.repeat(23)}${' '.repeat(7)}] 75 %  3.0 MiB`,
    `Restoring a.tar  [${'#'.repeat(30)}] 100 %  4.0 MiB`,
    `Restoring a.tar  [${'#'.repeat(30)}] 100 %  4.0 MiB`,
  ]);
  expect(text.endsWith('\n')).toBe(true);
});

it('prints occasional lines elsewhere, and nothing for a short run', async () => {
  const text = await printed(false, null, 25);
  expect(text).toBe('Restoring a.tar  10.0 MiB\nRestoring a.tar  20.0 MiB\n');
  expect(await printed(false, null, 3)).toBe('');
});
