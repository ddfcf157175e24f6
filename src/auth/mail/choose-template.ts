/** Chooses the template of a mail: the project's own or Plinth's, in the recipient's language. */
import { MailTemplate } from '../../infra/mail/mail-template';
import { Project } from '../../projects/project';
import { languageFor, withFallbacks } from './languages/languages';
import { MailKind } from './mail-kinds';

interface ChosenTemplate {
  readonly template: MailTemplate;
  /** Plinth's template, used if rendering `template` fails. */
  readonly standard: MailTemplate;
}

/**
 * If a project has templates for a kind, only these are used: the one in the recipient's language (`reset.de`), or else
 * the one without a language (`reset`). Parts that a template lacks are Plinth's.
 * @param preferences language tags, in order of preference
 */
export function chooseTemplate(
  { settings }: Pick<Project, 'settings'>,
  kind: MailKind,
  preferences: readonly string[],
): ChosenTemplate {
  const wanted = [...preferences, settings.locale];
  const own = settings.mail_templates;
  for (const tag of withFallbacks(wanted)) {
    const template = own[keyFor(own, kind, tag) ?? ''];
    if (template) {
      const standard = languageFor([tag]).mails[kind];
      return { template: { ...standard, ...template }, standard };
    }
  }
  const unnamed = own[kind];
  const standard = languageFor(unnamed ? [settings.locale] : wanted).mails[kind];
  return { template: { ...standard, ...unnamed }, standard };
}

/** Language tags are case-insensitive (RFC 5646, 2.1.1). */
function keyFor(own: object, kind: MailKind, tag: string): string | undefined {
  return Object.keys(own).find((key) => key.toLowerCase() === `${kind}.${tag}`);
}
