import { DEFAULT_SETTINGS } from '../../projects/project-settings';
import { chooseTemplate } from './choose-template';

const project = (settings: object) => ({ settings: { ...DEFAULT_SETTINGS, ...settings } });
const subject = (settings: object, preferences: string[]): string =>
  chooseTemplate(project(settings), 'reset', preferences).template.subject;

it.each([
  ['the first language that exists', {}, ['xx', 'fr-CH', 'de'], /Réinitialisation/],
  ['the language of a regional variant', {}, ['de-AT'], /Neues Passwort/],
  ['the project’s language if none is preferred', { locale: 'es' }, [], /Restablezca/],
  ['the project’s language if the preferred one does not exist', { locale: 'it' }, ['xx'], /Reimposti/],
  ['English if nothing else matches', { locale: 'xx' }, ['yy'], /Reset your password/],
  [
    'the project’s template in that language',
    { mail_templates: { 'reset.de': { subject: 'Eigenes' } } },
    ['de-CH'],
    /^Eigenes$/,
  ],
  [
    'the project’s template regardless of case',
    { mail_templates: { 'reset.pt-BR': { subject: 'Próprio' } } },
    ['PT-br'],
    /^Próprio$/,
  ],
  [
    'the project’s template without a language rather than Plinth’s',
    { mail_templates: { reset: { subject: 'Own' } } },
    ['de'],
    /^Own$/,
  ],
  [
    'Plinth’s if the project’s template is for another kind',
    { mail_templates: { verify: { subject: 'Own' } } },
    ['de'],
    /Neues Passwort/,
  ],
  [
    'the project’s language before the template without one',
    { locale: 'fr', mail_templates: { reset: { subject: 'Own' }, 'reset.fr': { subject: 'Le nôtre' } } },
    ['xx'],
    /^Le nôtre$/,
  ],
])('takes %s', (_which, settings, preferences, expected) => {
  expect(subject(settings, preferences)).toMatch(expected);
});

it('fills missing parts in the language of the template', () => {
  const settings = { mail_templates: { 'reset.de': { subject: 'Eigenes' } } };
  expect(chooseTemplate(project(settings), 'reset', ['de']).template.text).toContain('Guten Tag');
});
