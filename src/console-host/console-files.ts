/**
 * The built console and the pages of docs/ on disk. A request can name only the files that were found there, so a request's path
 * is never used as a path on disk.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const PAGE_TYPES: Readonly<Record<string, string>> = {
  ...TYPES,
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
};

/** The folder of the pages in the build. */
const PAGES = 'docs';

/** Encodings that the build writes next to each file, in order of preference. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;

export type Encoding = keyof typeof ENCODINGS | 'identity';

export interface BuiltFile {
  readonly type: string;
  /** Files on disk, by encoding. The smallest first. */
  readonly variants: ReadonlyMap<Encoding, string>;
}

export interface ConsoleBuild {
  /** The page, without its base URL. */
  readonly page: string;
  /** Hexadecimal hash of the page. It changes with every build, because the page names the hashed assets. */
  readonly digest: string;
  /** Keyed by the path below `/console/`: `assets/index-B2f4.js`. */
  readonly files: ReadonlyMap<string, BuiltFile>;
}

/** Where `npm start` builds the console: next to package.json. */
export function consoleFolder(root: string): string {
  return join(root, 'console', 'dist');
}

/** @returns null if the console was not built */
export function readConsole(folder: string): ConsoleBuild | null {
  const index = join(folder, 'index.html');
  if (!existsSync(index)) return null;
  const page = readFileSync(index, 'utf8');
  return {
    page,
    digest: createHash('sha256').update(page).digest('hex').slice(0, 32),
    files: filesIn(folder, TYPES, (name) => !name.startsWith(`${PAGES}/`)),
  };
}

export interface BuiltPages {
  /** Keyed by the path below `/docs/`: `guides.html`, `guides/policies.html`, `guides/site.css`. */
  readonly files: ReadonlyMap<string, BuiltFile>;
  /** Hexadecimal hash of all pages. */
  readonly digest: string;
}

/** The pages of docs/, or null if they were not built. */
export function readPages(folder: string): BuiltPages | null {
  const pages = join(folder, PAGES);
  const digest = join(pages, 'digest');
  if (!existsSync(digest)) return null;
  return { files: filesIn(pages, PAGE_TYPES, () => true), digest: readFileSync(digest, 'utf8') };
}

function filesIn(
  folder: string,
  types: Readonly<Record<string, string>>,
  isWanted: (name: string) => boolean,
): ReadonlyMap<string, BuiltFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(names.flatMap(entryOf(folder, types)).filter(([name]) => isWanted(name)));
}

function entryOf(
  folder: string,
  types: Readonly<Record<string, string>>,
): (name: string) => [string, BuiltFile][] {
  return (name) => {
    const type = types[extname(name)];
    if (type === undefined) return [];
    const file = join(folder, name);
    const encoded = Object.entries(ENCODINGS)
      .map(([encoding, ending]): [Encoding, string] => [encoding as Encoding, file + ending])
      .filter(([, path]) => existsSync(path));
    const path = relative(folder, file).replaceAll('\\', '/');
    return [[path, { type, variants: new Map([...encoded, ['identity', file]]) }]];
  };
}
