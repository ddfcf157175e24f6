import { de } from './de';
import { en, type Key } from './en';

const valuesOf = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort();

it('every text has the same values in each language', () => {
  const keys = Object.keys(en) as Key[];
  expect(keys.map((key) => [key, valuesOf(de[key])])).toEqual(keys.map((key) => [key, valuesOf(en[key])]));
});

it('no text is empty', () => {
  expect(Object.entries({ ...en }).filter(([, text]) => text.trim() === '')).toEqual([]);
  expect(Object.entries(de).filter(([, text]) => text.trim() === '')).toEqual([]);
});
