/** Serves Swagger UI: its files come from the package, its one script from here, and nothing from other origins. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DOCS_SCRIPT } from './docs-page';
import { collectDocument, type ServedDocument } from './openapi/served-document';

/** The script of the page, and files of the package that it loads, with their media types. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
  'init.js': 'text/javascript; charset=utf-8',
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
  readonly contentType: string;
  readonly content: ServedDocument;
}

const loaded = new Map<string, Promise<Asset>>();

/** A file of the page, or null if it has none with that name. It is compressed when it is first needed. */
export function findAsset(name: string): Promise<Asset> | null {
  const contentType = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (contentType === undefined) return null;
  const known = loaded.get(name);
  if (known) return known;
  const content = name === 'init.js' ? DOCS_SCRIPT : readFileSync(join(packageDirectory(), name));
  const asset = collectDocument([content]).then((document) => ({ contentType, content: document }));
  loaded.set(name, asset);
  return asset;
}

/** swagger-ui-dist is a dependency of @nestjs/swagger; npm may have nested it there. */
function packageDirectory(): string {
  const fromSwagger = createRequire(require.resolve('@nestjs/swagger'));
  return dirname(fromSwagger.resolve('swagger-ui-dist/package.json'));
}
