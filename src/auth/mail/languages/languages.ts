/** The built-in languages, and the choice among them. To add a language, add a file next to this one and an entry below. */
import { GERMAN } from './de';
import { ENGLISH } from './en';
import { SPANISH } from './es';
import { FRENCH } from './fr';
import { ITALIAN } from './it';
import { LanguageTexts } from './language';

export const LANGUAGES: readonly LanguageTexts[] = [ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN];

/** Adds shorter tags: `de-CH` gives `de-ch` and `de` (Lookup, RFC 4647, 3.4). */
export function withFallbacks(tags: readonly string[]): string[] {
  return tags.flatMap((tag) => {
    const parts = tag.toLowerCase().split('-');
    return parts.map((_part, index) => parts.slice(0, parts.length - index).join('-'));
  });
}

/** The first built-in language among the preferences; English if there is none. */
export function languageFor(preferences: readonly string[]): LanguageTexts {
  for (const tag of withFallbacks(preferences)) {
    const language = LANGUAGES.find((one) => one.tag === tag);
    if (language) return language;
  }
  return ENGLISH;
}
