/** The Accept header: the media types that the client accepts, best first. */
import { type HeaderItem, headerItems } from './header-list';
import { mediaTypeOf } from './media-type';
import type { MediaType } from './rest-request';

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
