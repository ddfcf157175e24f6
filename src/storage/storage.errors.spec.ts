/** Every code of storage is documented with its status, and the renderer sends no other codes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../common/errors/app-error';
import { StorageErrorRenderer } from './http/storage-error.renderer';
import { RateHeaders } from './http/rate-headers';
import * as errors from './storage.errors';

const DOCS = readFileSync(join(__dirname, '../../docs/reference/storage.md'), 'utf8');
const documented: Record<string, number> = Object.fromEntries(
  [...DOCS.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [String(code), Number(status)]),
);
const renderer = new StorageErrorRenderer({} as RateHeaders);

it('docs/reference/storage.md lists every code with its status, and no other', () => {
  expect(documented).toEqual(errors.STORAGE_ERROR_CODES);
});

it('every factory creates an error of the catalogue with its status', () => {
  const factories = Object.values(errors).filter(
    (value): value is (...args: never[]) => AppError => typeof value === 'function',
  );
  expect(factories.length).toBeGreaterThan(10);
  for (const factory of factories) {
    const error = (factory as (argument: string) => AppError)('x');
    // A temporary failure gives 503.
    const isUnavailable = error.code === 'storage_unavailable' && error.headers['Retry-After'] !== undefined;
    expect([error.code, error.status]).toEqual([
      error.code,
      isUnavailable ? 503 : errors.STORAGE_ERROR_CODES[error.code],
    ]);
  }
});

it.each([
  [400, '22P02', 'invalid_parameters'],
  [400, 'P0001', 'invalid_parameters'],
  [401, 'unauthorized', 'unauthorized'],
  [403, '42501', 'forbidden'],
  [404, 'not_found', 'not_found'],
  [404, '42P01', 'not_found'],
  [409, '23505', 'conflict'],
  [413, 'payload_too_large', 'file_too_large'],
  [414, 'uri_too_long', 'invalid_parameters'],
  [415, 'unsupported_media_type', 'unsupported_media_type'],
  [429, 'rate_limited', 'rate_limited'],
  [500, 'internal_error', 'storage_unavailable'],
  [503, '53300', 'storage_unavailable'],
])('another error with status %d and code %s is sent as %s', (status, code, expected) => {
  const error = new AppError(status, code, 'because');
  expect(renderer.render(error)).toMatchObject({ data: null, error: { code: expected, status } });
});

it("reports a refusal without PostgreSQL's message, which names tables", () => {
  const error = new AppError(403, '42501', 'new row violates row-level security policy for table "files"');
  expect(JSON.stringify(renderer.render(error))).not.toContain('files');
});
