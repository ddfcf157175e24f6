import { DEFAULT_SETTINGS } from '../../projects/project-settings';
import { chooseTemplate } from './choose-template';

const project = (settings: object) => ({ settings: { ...DEFAULT_SETTINGS, ...settings } });
const subject = (settings: object, preferences: string[]): string =>
  chooseTemplate(project(settings), 'reset', preferences).template.subject;

it.each([
  ['the first language that is there', {}, ['xx', 'fr-CH', 'de'], /Réinitialisation/],
  ['the language of a region’s', {}, ['de-AT'], /Neues Passwort/],
  ['the project’s language, for who wants none', { locale: 'es' }, [], /Restablezca/],
  ['the project’s language, for who wants what is not there', { locale: 'it' }, ['xx'], /Reimposti/],
  ['English in the end', { locale: 'xx' }, ['yy'], /Reset your password/],
  [
    'the project’s own in that language',
    { mail_templates: { 'reset.de': { subject: 'Eigenes' } } },
    ['de-CH'],
    /^Eigenes$/,
  ],
  [
    'the project’s own whatever the case',
    { mail_templates: { 'reset.pt-BR': { subject: 'Próprio' } } },
    ['PT-br'],
    /^Próprio$/,
  ],
  [
    'the project’s own without a language rather than Plinth’s',
    { mail_templates: { reset: { subject: 'Own' } } },
    ['de'],
    /^Own$/,
  ],
  [
    'Plinth’s where the project’s own is another mail',
    { mail_templates: { verify: { subject: 'Own' } } },
    ['de'],
    /Neues Passwort/,
  ],
  [
    'the project’s language before the one without',
    { locale: 'fr', mail_templates: { reset: { subject: 'Own' }, 'reset.fr': { subject: 'Le nôtre' } } },
    ['xx'],
    /^Le nôtre$/,
  ],
])('takes %s', (_which, settings, preferences, expected) => {
  expect(subject(settings, preferences)).toMatch(expected);
});

it('fills what a template leaves out in its own language', () => {
  const settings = { mail_templates: { 'reset.de': { subject: 'Eigenes' } } };
  expect(chooseTemplate(project(settings), 'reset', ['de']).template.text).toContain('Guten Tag');
});
