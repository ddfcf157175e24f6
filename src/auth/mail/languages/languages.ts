/** The languages that Plinth speaks, and which one somebody wants. A new one is a file beside this and a line below. */
import { LANGUAGE_TAG } from '../../../common/text/language-tag';
import { GERMAN } from './de';
import { ENGLISH } from './en';
import { SPANISH } from './es';
import { FRENCH } from './fr';
import { ITALIAN } from './it';
import { LanguageTexts } from './language';

export const LANGUAGES: readonly LanguageTexts[] = [ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN];

/** Preferences beyond these are not looked at. */
const MAX_PREFERENCES = 10;
const MAX_HEADER_LENGTH = 500;

/** The built-in language of a tag, or null. */
function builtInLanguage(tag: string): LanguageTexts | null {
  return LANGUAGES.find((language) => language.tag === tag.toLowerCase()) ?? null;
}

/** `de-CH` is also served by `de` (lookup of RFC 4647, 3.4). */
export function withFallbacks(tags: readonly string[]): string[] {
  return tags.flatMap((tag) => {
    const parts = tag.toLowerCase().split('-');
    return parts.map((_part, index) => parts.slice(0, parts.length - index).join('-'));
  });
}

/** The first built-in language that somebody wants, English when there is none. */
export function languageFor(preferences: readonly string[]): LanguageTexts {
  for (const tag of withFallbacks(preferences)) {
    const language = builtInLanguage(tag);
    if (language) return language;
  }
  return ENGLISH;
}

/**
 * What an Accept-Language header asks for, the most wanted first (RFC 9110, 12.5.4): `fr-CH, de;q=0.8` gives
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
