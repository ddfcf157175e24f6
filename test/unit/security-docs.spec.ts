/** Checks that the tests named in docs/internals/security.md and docs/internals/shared-objects.md exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const E2E = join(ROOT, 'test/e2e/auth');

interface Named {
  readonly file: string;
  /** Absent if the row refers to the whole file. */
  readonly title?: string;
}

const rows = ['docs/internals/security.md', 'docs/internals/shared-objects.md']
  .flatMap((page) => readFileSync(join(ROOT, page), 'utf8').split('\n'))
  .filter((line) => /^\| (?!Threat|Object )/.test(line));

/** `file › title`, `title` in the same file, or `file`: the last cell of a row, in backquotes. */
function testsOf(row: string): Named[] {
  const cell =
    row
      .replace(/\s*\|\s*$/, '')
      .split(/ \| /)
      .at(-1) ?? '';
  let file = '';
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => {
    const [left = '', right] = quoted.split(' › ');
    if (right !== undefined) return { file: (file = pathOf(left)), title: right };
    const isFile = /\.ts$|^\.\.\//.test(left);
    return isFile ? { file: (file = pathOf(left)) } : { file, title: left };
  });
}

function pathOf(name: string): string {
  if (name.endsWith('.ts')) return join(ROOT, name);
  return join(E2E, `${name}.e2e-spec.ts`);
}

/** Whether a test's source contains a title, with or without escaped quotes. */
function contains(source: string, title: string): boolean {
  const plain = (text: string): string => text.replaceAll('\\', '');
  return [title, title.replaceAll('"', '\\"')].some((one) => plain(source).includes(plain(one)));
}

it.each(rows.map((row) => [row.split(' | ')[0]?.slice(2) ?? '', row] as const))('%s', (_threat, row) => {
  const named = testsOf(row);
  expect(named.length).toBeGreaterThan(0);
  for (const { file, title } of named) {
    expect([file, existsSync(file)]).toEqual([file, true]);
    if (title !== undefined && !contains(readFileSync(file, 'utf8'), title)) {
      throw new Error(`${file} has no test "${title}"`);
    }
  }
});
