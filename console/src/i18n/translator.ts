/**
 * Fills in the values of a text. English and German have one form for a count of 1 and another form for all other
 * counts.
 */
import type { Key } from './en';

type Values = Readonly<Record<string, string | number>>;

export function translated(catalog: Readonly<Record<Key, string>>, key: Key, values?: Values): string {
  const [singular = '', plural = singular] = catalog[key].split('|');
  // A count may already be formatted, and "1.000" is not 1.
  const text = String(values?.count) === '1' ? singular : plural;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values?.[name] ?? whole));
}
