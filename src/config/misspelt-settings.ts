/** Warns about variables that are not settings but have a similar name. The environment also has variables of other programs. */
import { distance } from 'fastest-levenshtein';
import { EnvironmentVariables } from './env.schema';
import { settingOf } from './setting-files';

/** Number of letters that may differ. Shorter names resemble too many others. */
const MAX_DISTANCE = 2;
const MIN_LENGTH = 6;
/** Variables of other programs do not begin with these prefixes. */
const OWN_PREFIXES = ['SMTP_', 'STORAGE_', 'STAFF_', 'EMBEDDED_DATABASE_'];

/** @returns one line for each such variable; the values are not shown */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.keys(new EnvironmentVariables());
  return Object.keys(environment)
    .filter((name) => environment[name]?.trim() && !known.includes(settingOf(name, known)))
    .flatMap((name) => {
      const [closest] = known
        .map((candidate) => ({ candidate, letters: distance(name.toUpperCase(), candidate) }))
        .toSorted((a, b) => a.letters - b.letters);
      const close = closest !== undefined && name.length >= MIN_LENGTH && closest.letters <= MAX_DISTANCE;
      if (close) return [`${name} is not a setting and is ignored. Did you mean ${closest.candidate}?`];
      return OWN_PREFIXES.some((prefix) => name.startsWith(prefix))
        ? [`${name} is not a setting and is ignored. .env.example lists all settings.`]
        : [];
    });
}
