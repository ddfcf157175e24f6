// Builds the console into `dist` and the pages of docs/ into `dist/docs`, with each asset also compressed, because the server only sends files.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { generateSettings } from './generate.mjs';
import { dropUnusedStyles } from './mantine-styles.mjs';
import { renderPages } from './pages.mjs';

const ROOT = path.dirname(fileURLToPath(import.meta.url));
const DIST = path.join(ROOT, 'dist');
const COMPRESSED = new Set(['.js', '.css', '.svg', '.html', '.json']);
/** A level above this one takes several times as long and saves two per cent. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

await rm(DIST, { recursive: true, force: true });
await generateSettings();
await build({ root: ROOT, logLevel: 'warn' });
await dropUnusedStyles(DIST);
await renderPages(path.join(ROOT, '../docs'), path.join(DIST, 'docs'));
await compress();

async function compress() {
  const names = await readdir(DIST, { recursive: true });
  const files = names.filter((name) => COMPRESSED.has(path.extname(name)));
  await Promise.all(files.map((name) => compressFile(path.join(DIST, name))));
}

async function compressFile(file) {
  const content = await readFile(file);
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, BROTLI));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}
