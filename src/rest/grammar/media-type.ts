/** Media types of requests and responses, parsed and printed. */
import { headerItem, type HeaderItem, headerItems } from './header-list';
import type { MediaType, PlanOption, SimpleMediaKind } from './rest-request';

/** The first text for each kind is the text that Plinth writes. */
const SIMPLE: readonly (readonly [text: string, kind: SimpleMediaKind])[] = [
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['text/csv', 'csv'],
  ['application/geo+json', 'geojson'],
  ['text/plain', 'text'],
  ['text/xml', 'xml'],
  ['application/openapi+json', 'openapi'],
  ['application/x-www-form-urlencoded', 'form'],
  ['application/octet-stream', 'octet-stream'],
  ['application/vnd.pgrst.array+json;nulls=stripped', 'stripped-array'],
  ['*/*', 'any'],
  ['*', 'any'],
];
const KIND_OF_TEXT: ReadonlyMap<string, SimpleMediaKind> = new Map(SIMPLE);
const PLAN_OPTIONS: readonly PlanOption[] = ['analyze', 'verbose', 'settings', 'buffers', 'wal'];

/**
 * Parses one media type, without a quality factor. Never throws: an unknown type is `other`.
 * Example: `application/vnd.pgrst.plan+json; for="application/vnd.pgrst.object"; options=analyze|verbose`
 */
export function parseMediaType(text: string): MediaType {
  return mediaTypeOf(headerItem(text));
}

/** Like parseMediaType(), for an item that is already split. */
function mediaTypeOf({ head, parameters }: HeaderItem): MediaType {
  const type = head.toLowerCase();
  const simple = KIND_OF_TEXT.get(type);
  if (simple !== undefined) return { kind: simple };
  const stripNulls = parameters.get('nulls') === 'stripped';
  switch (type) {
    case 'application/vnd.pgrst.object':
    case 'application/vnd.pgrst.object+json':
      return { kind: 'object', stripNulls };
    case 'application/vnd.pgrst.array':
    case 'application/vnd.pgrst.array+json':
      return { kind: stripNulls ? 'stripped-array' : 'json' };
    case 'application/vnd.pgrst.plan':
    case 'application/vnd.pgrst.plan+text':
      return planType('text', parameters);
    case 'application/vnd.pgrst.plan+json':
      return planType('json', parameters);
    default:
      return { kind: 'other', type };
  }
}

/** A media type in PostgREST's form for Content-Type, without its charset. */
export function formatMediaType(media: MediaType): string {
  switch (media.kind) {
    case 'other':
      return media.type;
    case 'object':
      return `application/vnd.pgrst.object+json${media.stripNulls ? ';nulls=stripped' : ''}`;
    case 'plan': {
      const options = media.options.length > 0 ? `; options=${media.options.join('|')}` : '';
      return `application/vnd.pgrst.plan+${media.format}; for="${formatMediaType(media.for)}"${options}`;
    }
    default:
      return textOfKind(media.kind);
  }
}

function planType(format: 'text' | 'json', parameters: ReadonlyMap<string, string>): MediaType {
  const wanted = (parameters.get('options') ?? '').split('|');
  const options = PLAN_OPTIONS.filter((option) => wanted.includes(option));
  const inner = parseMediaType(parameters.get('for') ?? 'application/json');
  // No handler produces a plan of a plan, so such a type is not nested.
  const of: MediaType = inner.kind === 'plan' ? { kind: 'other', type: 'application/vnd.pgrst.plan' } : inner;
  return { kind: 'plan', format, for: of, options };
}

function textOfKind(kind: SimpleMediaKind): string {
  return SIMPLE.find(([, of]) => of === kind)?.[0] ?? '*/*';
}

/** The Accept header: the media types that the client accepts, best first. */
const ANY: readonly MediaType[] = [{ kind: 'any' }];

/**
 * Parses the header's value; null or blank accepts anything. The result is sorted by quality, then by how
 * specific a type is, then in the written order. `q=0` excludes a type, so the list can be empty.
 * Example: `Accept: text/csv;q=0.5, application/vnd.pgrst.object+json;nulls=stripped`
 * @throws GrammarError PL153 for too many types.
 */
export function parseAccept(header: string | null): readonly MediaType[] {
  if (header === null) return ANY;
  const items = headerItems(header);
  if (items.length === 0) return ANY;
  return items
    .map((item) => ({ item, quality: qualityOf(item), specificity: specificityOf(item) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || b.specificity - a.specificity)
    .map(({ item }) => mediaTypeOf(item));
}

function qualityOf({ parameters }: HeaderItem): number {
  const text = parameters.get('q');
  const quality = text === undefined || text === '' ? 1 : Number(text);
  return quality >= 0 && quality <= 1 ? quality : 1;
}

function specificityOf({ head, parameters }: HeaderItem): number {
  const stars = head.split('*').length - 1;
  return parameters.size - (parameters.has('q') ? 1 : 0) - stars;
}
