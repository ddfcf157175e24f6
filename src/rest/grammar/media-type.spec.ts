import { formatMediaType, parseMediaType } from './media-type';
import type { MediaType } from './rest-request';

const PLAN: MediaType = { kind: 'plan', format: 'text', for: { kind: 'json' }, options: [] };

describe('parseMediaType', () => {
  it.each<[string, MediaType]>([
    ['application/json', { kind: 'json' }],
    ['application/json; charset=utf-8', { kind: 'json' }],
    ['application/x-ndjson', { kind: 'ndjson' }],
    ['text/csv; version=1', { kind: 'csv' }],
    ['application/geo+json', { kind: 'geojson' }],
    ['text/plain', { kind: 'text' }],
    ['text/xml', { kind: 'xml' }],
    ['application/openapi+json', { kind: 'openapi' }],
    ['application/x-www-form-urlencoded', { kind: 'form' }],
    ['application/octet-stream', { kind: 'octet-stream' }],
    ['*/*', { kind: 'any' }],
    ['application/vnd.pgrst.object+json', { kind: 'object', stripNulls: false }],
    ['application/vnd.pgrst.object', { kind: 'object', stripNulls: false }],
    ['ApplicatIon/vnd.PgRsT.object+json', { kind: 'object', stripNulls: false }],
    ['application/vnd.pgrst.object+json;nulls=stripped', { kind: 'object', stripNulls: true }],
    ['application/vnd.pgrst.object+json; NULLS="stripped"', { kind: 'object', stripNulls: true }],
    ['application/vnd.pgrst.array+json;nulls=stripped', { kind: 'stripped-array' }],
    ['application/vnd.pgrst.array', { kind: 'json' }],
    ['application/vnd.pgrst.plan;', PLAN],
    ['application/vnd.pgrst.plan+text', PLAN],
    ['application/vnd.pgrst.plan;for="application/json"', PLAN],
    [
      'application/vnd.pgrst.plan ; for="text/xml" ; options=analyze',
      { ...PLAN, for: { kind: 'xml' }, options: ['analyze'] },
    ],
    ['application/vnd.pgrst.plan+json;for="text/csv"', { ...PLAN, format: 'json', for: { kind: 'csv' } }],
    [
      'application/vnd.pgrst.plan+text; options=wal|verbose|settings|nonsense|buffers',
      { ...PLAN, options: ['verbose', 'settings', 'buffers', 'wal'] },
    ],
    [
      'application/vnd.pgrst.plan; for="application/vnd.pgrst.object+json;nulls=stripped"',
      { ...PLAN, for: { kind: 'object', stripNulls: true } },
    ],
    [
      'application/vnd.pgrst.plan; for="application/vnd.pgrst.plan"',
      { ...PLAN, for: { kind: 'other', type: 'application/vnd.pgrst.plan' } },
    ],
    ['application/vnd.twkb', { kind: 'other', type: 'application/vnd.twkb' }],
    ['Image/PNG; x="a;b"', { kind: 'other', type: 'image/png' }],
    ['text/*', { kind: 'other', type: 'text/*' }],
    ['nonsense', { kind: 'other', type: 'nonsense' }],
    ['', { kind: 'other', type: '' }],
  ])('reads %s', (text, media) => {
    expect(parseMediaType(text)).toEqual(media);
  });
});

describe('formatMediaType', () => {
  it.each([
    ['application/json; charset=utf-8', 'application/json'],
    ['application/ndjson', 'application/x-ndjson'],
    ['text/csv', 'text/csv'],
    ['*/*', '*/*'],
    ['application/vnd.pgrst.object', 'application/vnd.pgrst.object+json'],
    ['application/vnd.pgrst.object;nulls=stripped', 'application/vnd.pgrst.object+json;nulls=stripped'],
    ['application/vnd.pgrst.array;nulls=stripped', 'application/vnd.pgrst.array+json;nulls=stripped'],
    ['application/vnd.pgrst.plan', 'application/vnd.pgrst.plan+text; for="application/json"'],
    [
      'application/vnd.pgrst.plan+json; for="application/vnd.pgrst.object"; options=verbose|analyze',
      'application/vnd.pgrst.plan+json; for="application/vnd.pgrst.object+json"; options=analyze|verbose',
    ],
    ['image/png', 'image/png'],
  ])('writes %s as %s', (text, written) => {
    expect(formatMediaType(parseMediaType(text))).toBe(written);
  });
});
