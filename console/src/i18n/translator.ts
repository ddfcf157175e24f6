/** A text of a catalog with its values. English and German have one form for 1 and one for all other counts. */
import type { Key } from './en';

type Values = Readonly<Record<string, string | number>>;

export function translated(catalog: Readonly<Record<Key, string>>, key: Key, values?: Values): string {
  const [singular = '', plural = singular] = catalog[key].split('|');
  // A count may be formatted already, and "1.000" is no 1.
  const text = String(values?.count) === '1' ? singular : plural;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values?.[name] ?? whole));
}
