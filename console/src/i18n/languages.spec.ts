import { readFileSync } from 'node:fs';
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

/** Words that German has from English, and names. */
const ALIKE: readonly Key[] = [
  'analyze',
  'apiCalls',
  'apiDocs',
  'as_plan',
  'auth',
  'bucket',
  'buckets',
  'captcha',
  'claims',
  'explain',
  'fileName',
  'filter',
  'limitsTitle',
  'live',
  'logs',
  'mailText',
  'mailsTitle',
  'median',
  'message_broadcast',
  'message_system',
  'name',
  'navigation',
  'passkeys',
  'passphrase',
  'peopleOfProject',
  'plan',
  'policies',
  'policyCount',
  'provenDomains',
  'providerName',
  'provider_domain',
  'realtime',
  'rls',
  'role_admin',
  'saml',
  'schema',
  'schemaPicture',
  'source_mail',
  'source_realtime',
  'source_rest',
  'source_webhook',
  'sqlEditor',
  'sqlHint',
  'status',
  'tableRest',
  'team',
  'tookMs',
  'webhook',
  'webhooks',
];

it('no text in German is the English one, but for these', () => {
  const keys = Object.keys(en) as Key[];
  expect(keys.filter((key) => de[key] === en[key]).sort()).toEqual(ALIKE);
});

it('no key is in two modules, of which one would hide the other', () => {
  const names = [readFileSync(`${__dirname}/en.ts`, 'utf8')].flatMap((text) =>
    [...text.matchAll(/'\.\/en\/([\w-]+)'/g)].map(([, name]) => name),
  );
  const keys = names.flatMap((name) =>
    [...readFileSync(`${__dirname}/en/${name}.ts`, 'utf8').matchAll(/^  (\w+):/gm)].map(([, key]) => key),
  );
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});
