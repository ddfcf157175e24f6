import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { de } from './de';
import { settings } from './de/settings';
import { settingLabels as german } from './de/setting-labels';
import { settingLabels as english } from './en/setting-labels';
import { en, type Key } from './en';
import schema from '../generated/settings.json';
import { translated } from './translator';

const valuesOf = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort();

it('every text has the same values in each language', () => {
  const keys = Object.keys(en) as Key[];
  expect(keys.map((key) => [key, valuesOf(de[key])])).toEqual(keys.map((key) => [key, valuesOf(en[key])]));
});

it('a count of 1 has the singular, but not "1.000" in German', () => {
  const counts = [1, '1', 0, 2, '1.000'];
  expect(counts.map((count) => translated(de, 'rowCount', { count }))).toEqual([
    '1 Zeile',
    '1 Zeile',
    '0 Zeilen',
    '2 Zeilen',
    '1.000 Zeilen',
  ]);
});

/** Texts whose counts are limits, so they are never 1. */
const NEVER_ONE: readonly Key[] = ['chartCut', 'limitRows', 'passphraseHint', 'truncated'];

it('a noun after a count has both forms', () => {
  const keys = (Object.keys(en) as Key[]).filter((key) => /\{count\} [a-z]+s\b/.test(en[key]));
  expect(keys.filter((key) => !en[key].includes('|')).sort()).toEqual(NEVER_ONE);
});

it('no text is empty', () => {
  expect(Object.entries({ ...en }).filter(([, text]) => text.trim() === '')).toEqual([]);
  expect(Object.entries(de).filter(([, text]) => text.trim() === '')).toEqual([]);
});

/** Names, and German words borrowed from English: they are the same in both languages. */
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
  'kind_indexes',
  'kind_triggers',
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

it('no German text equals the English text, with these exceptions', () => {
  const keys = Object.keys(en) as Key[];
  expect(keys.filter((key) => de[key] === en[key]).sort()).toEqual(ALIKE);
});

it('no key is in two modules, where one text would hide the other', () => {
  const names = [readFileSync(`${__dirname}/en.ts`, 'utf8')].flatMap((text) =>
    [...text.matchAll(/'\.\/en\/([\w-]+)'/g)].map(([, name]) => name),
  );
  const keys = names.flatMap((name) =>
    [...readFileSync(`${__dirname}/en/${name}.ts`, 'utf8').matchAll(/^  (\w+):/gm)].map(([, key]) => key),
  );
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

it.each([english, german])('every setting has a label', (labels) =>
  expect(Object.keys(schema).filter((name) => !(name in labels))).toEqual([]),
);

it('every setting has a German description', () => {
  expect(Object.keys(settings).sort()).toEqual(Object.keys(schema).sort());
});

/** Buttons whose text is a single word, with the reason. All other buttons name the action and its object. */
const OF_ONE_WORD: Readonly<Partial<Record<Key, string>>> = {
  cancel: 'ends a dialog that names the cancelled action',
  close: 'ends a dialog',
  connect: 'opens the dialog of that name, in the header',
  deliveries: 'opens a list',
  done: 'ends a dialog',
  explain: 'the name of a statement',
  openQueries: 'opens a list',
  runsOfSchedule: 'opens a list',
  search: 'opens the command palette, in the header',
  settings: 'opens a screen',
  structure: 'opens a drawer',
  tables: 'opens a list',
};

const BUTTON = /<(Button|Menu\.Item)\b[^]*?<\/\1>/g;
const CHILD = /(?:^ *|>)\{.*/gm;
const ACTION = /\baction=\{.*/g;

/** The texts of all components. */
function sources(): string[] {
  const source = join(__dirname, '..');
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => readFileSync(join(source, name), 'utf8'));
}

/** Keys of the texts of all buttons, and of the `action` of forms and questions. */
function buttonKeys(): Key[] {
  const parts = sources().flatMap((text) => [
    ...[...text.matchAll(BUTTON)].flatMap(([button]) => button.match(CHILD) ?? []),
    ...(text.match(ACTION) ?? []),
  ]);
  const words = parts.flatMap((part) => [...part.matchAll(/'(\w+)'/g)].map(([, word]) => word!));
  return [...new Set(words)].filter((word): word is Key => word in en);
}

it('a button names its action and object, with these exceptions', () => {
  const keys = buttonKeys();
  expect(keys.length).toBeGreaterThan(100);
  expect(keys.filter((key) => !/\s|\{/.test(en[key].trim())).sort()).toEqual(Object.keys(OF_ONE_WORD));
});

/** Results without an object that has a name: the account of the reader. */
const NAMELESS: readonly Key[] = ['passwordChanged'];

it('an announced result names its object', () => {
  const keys = new Set(
    sources().flatMap((text) =>
      [...text.matchAll(/\b(?:announce\(|done=\{)t\(([^]*?)(?:, \{|\)[;}])/g)].flatMap(([, part = '']) =>
        [...part.matchAll(/'(\w+)'/g)].map(([, word]) => word!),
      ),
    ),
  );
  const known = [...keys].filter((word): word is Key => word in en);
  expect(known.length).toBeGreaterThan(60);
  expect(known.filter((key) => !en[key].includes('{')).sort()).toEqual(NAMELESS);
});

/** Actions that show their result themselves. */
const SHOWN: readonly Key[] = ['discardAndLeave', 'newSecret', 'rotate', 'runSql'];

it('an action that was confirmed announces its result, with these exceptions', () => {
  const uses = sources().flatMap((text) => text.match(/<(Confirm|Departure)\n[^]*?onClose=/g) ?? []);
  const silent = uses.filter((use) => !use.includes('done='));
  expect(silent.map((use) => /action=\{t\('(\w+)'/.exec(use)?.[1]).sort()).toEqual(SHOWN);
});
