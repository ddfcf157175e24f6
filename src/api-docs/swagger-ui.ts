/** Serves Swagger UI: its files come from the package, its one script from here, and nothing from other origins. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DOCS_SCRIPT } from './docs-page';

/** Files of the package that the page loads, with their media types. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * Content security policy: Swagger UI needs inline styles and data: images; scripts come from this origin only
 * and are never inline.
 * @param publicUrl target of requests that are tried out on the page
 */
export function docsPolicy(publicUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src 'self' ${new URL(publicUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export interface Asset {
  readonly type: string;
  readonly content: Buffer;
  /** Compressed when it is first needed; a megabyte takes another thread a tenth of a second. */
  readonly zipped: () => Promise<Buffer>;
}

const gzipped = promisify(gzip);
const loaded = new Map<string, Asset>();

/** A file of the page, or null if it has none with that name. */
export function findAsset(name: string): Asset | null {
  const known = loaded.get(name);
  if (known) return known;
  if (name === 'init.js') return remember(name, 'text/javascript; charset=utf-8', Buffer.from(DOCS_SCRIPT));
  const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (type === undefined) return null;
  return remember(name, type, readFileSync(join(packageDirectory(), name)));
}

function remember(name: string, type: string, content: Buffer): Asset {
  let zipped: Promise<Buffer> | undefined;
  const asset: Asset = { type, content, zipped: () => (zipped ??= gzipped(content)) };
  loaded.set(name, asset);
  return asset;
}

/** swagger-ui-dist is a dependency of @nestjs/swagger; npm may have nested it there. */
function packageDirectory(): string {
  const fromSwagger = createRequire(require.resolve('@nestjs/swagger'));
  return dirname(fromSwagger.resolve('swagger-ui-dist/package.json'));
}
