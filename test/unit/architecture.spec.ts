/** Checks that the stations of the walks in docs/internals/architecture.md exist, and limits their number. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const MAX_STATIONS = 12;

interface Walk {
  readonly title: string;
  readonly stations: readonly { readonly file: string; readonly name: string }[];
}

function walks(): Walk[] {
  const page = readFileSync(join(ROOT, 'docs/internals/architecture.md'), 'utf8');
  const [, section = ''] = page.split('## Four walks\n');
  const parts = section.split(/^## /m)[0]?.split(/^### /m).slice(1) ?? [];
  return parts.map((part) => ({
    title: part.slice(0, part.indexOf('\n')),
    stations: [...part.matchAll(/^\| `([^`]+)` `([^`]+)` \|/gm)].map(([, file = '', name = '']) => ({
      file,
      name,
    })),
  }));
}

it('has four walks', () => {
  expect(walks()).toHaveLength(4);
});

describe.each(walks())('$title', ({ stations }) => {
  it(`has at most ${MAX_STATIONS} stations`, () => {
    expect(stations.length).toBeGreaterThan(5);
    expect(stations.length).toBeLessThanOrEqual(MAX_STATIONS);
  });

  it.each(stations)('passes $file $name', ({ file, name }) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(declarationOf(name));
  });
});

/** A function, class or method of that name; in SQL a function of a schema. */
function declarationOf(name: string): RegExp {
  return new RegExp(
    `(function|class)\\*?\\s+(\\w+\\.)?${name}\\b|^\\s+((private|protected|async|override|\\*)\\s*)*${name}(<[^(]*>)?\\(`,
    'm',
  );
}
