import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { de } from './de';
import { settings } from './de/settings';
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

/** Words that German has from English, and names. */
const ALIKE: readonly Key[] = [
  'analyze',
  'apiDocs',
  'auth',
  'bucket',
  'buckets',
  'claims',
  'explain',
  'fileName',
  'filter',
  'mailText',
  'mailsTitle',
  'median',
  'name',
  'navigation',
  'passkeys',
  'passphrase',
  'person',
  'plan',
  'policies',
  'policyCount',
  'role_admin',
  'schema',
  'sqlEditor',
  'sqlHint',
  'status',
  'tableRest',
  'tookMs',
];

it('no text in German is the English one, but for these', () => {
  const keys = Object.keys(en) as Key[];
  expect(keys.filter((key) => de[key] === en[key]).sort()).toEqual(ALIKE);
});

it('the settings with a German description are settings of projects', () => {
  const text = readFileSync(join(__dirname, '../../../test/snapshots/openapi/platform.yaml'), 'utf8');
  const document = load(text) as {
    components: { schemas: { ProjectSettings: { properties: Record<string, unknown> } } };
  };
  const known = Object.keys(document.components.schemas.ProjectSettings.properties);
  expect(Object.keys(settings).filter((name) => !known.includes(name))).toEqual([]);
});
