/** Checks that the tests named in docs/internals/spec-coverage.md exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/internals/spec-coverage.md'), 'utf8');

interface Reference {
  readonly statement: string;
  readonly file: string;
  readonly title: string;
}

/** Rows: `| statement | test/….ts › title<br>test/….ts › title |`. */
function rows(): { statement: string; references: Reference[] }[] {
  return PAGE.split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| SPEC |'))
    .map((line) => line.slice(2, -2).split(' | '))
    .map(([statement = '', tests = '']) => ({
      statement,
      references: tests
        .split('<br>')
        .map((reference) => reference.split(' › '))
        .map(([file = '', title = '']) => ({
          statement,
          file: file.trim().replaceAll('`', ''),
          title: title.trim(),
        })),
    }));
}

describe('docs/internals/spec-coverage.md', () => {
  it('names at least one test for each statement', () => {
    const page = rows();
    expect(page.length).toBeGreaterThan(80);
    for (const { statement, references } of page) {
      expect({
        statement,
        tests: references.length > 0 && references.every(({ title }) => title !== ''),
      }).toEqual({
        statement,
        tests: true,
      });
    }
  });

  it('names only tests that exist', () => {
    const sources = new Map<string, string>();
    const missing = rows()
      .flatMap(({ references }) => references)
      .filter(({ file, title }) => {
        if (!existsSync(join(ROOT, file))) return true;
        const source = sources.get(file) ?? readFileSync(join(ROOT, file), 'utf8');
        sources.set(file, source);
        return !titlesIn(source).has(title);
      });
    expect(missing).toEqual([]);
  });
});

/** Titles of it(), test(), their .each forms and describe(), as written in the source. */
function titlesIn(source: string): Set<string> {
  const titles = new Set<string>();
  const call =
    /\b(?:it|test|describe)(?:\.each(?:<[^(]*>)?\([\s\S]*?\))?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
  for (const match of source.matchAll(call)) titles.add((match[2] as string).replace(/\\(['"`])/g, '$1'));
  return titles;
}
