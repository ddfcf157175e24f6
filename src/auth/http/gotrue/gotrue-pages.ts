/** Pages of GoTrue's lists, in headers. */
import { COUNT, TEXT } from '../../../http/docs/documented-headers';

export const PAGE_HEADERS = {
  'X-Total-Count': { description: 'Total number of entries', schema: COUNT },
  Link: { description: 'The next and the last page (RFC 8288)', schema: TEXT },
};

/** Clients read the pages of `rel="next"` and `rel="last"`. */
export function pageHeaders(
  path: string,
  total: number,
  { limit, offset }: { limit: number; offset: number },
): Record<string, string> {
  const [page, last] = [offset / limit + 1, Math.max(1, Math.ceil(total / limit))];
  const link = (to: number, rel: string): string => `</${path}?page=${to}&per_page=${limit}>; rel="${rel}"`;
  const links = [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')];
  return { 'X-Total-Count': String(total), Link: links.join(', ') };
}
