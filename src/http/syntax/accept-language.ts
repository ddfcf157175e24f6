/** Reads the Accept-Language header. */
import { LANGUAGE_TAG } from '../../common/text/language-tag';

/** Preferences beyond these limits are ignored. */
const MAX_PREFERENCES = 10;
const MAX_HEADER_LENGTH = 500;

/**
 * The language tags of an Accept-Language header in order of preference (RFC 9110, 12.5.4): `fr-CH, de;q=0.8` gives
 * `['fr-CH', 'de']`.
 */
export function parseAcceptLanguage(header: string | undefined): string[] {
  return (header ?? '')
    .slice(0, MAX_HEADER_LENGTH)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((one) => one.trim());
      const quality = parameters.find((one) => one.startsWith('q='))?.slice(2);
      return { tag, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ tag, quality }) => LANGUAGE_TAG.test(tag) && quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .slice(0, MAX_PREFERENCES)
    .map(({ tag }) => tag);
}
