/** Which template a mail is made from: the project's own or Plinth's, in the language that its receiver wants. */
import { MailTemplate } from '../../infra/mail/mail-template';
import { Project } from '../../projects/project';
import { languageFor, withFallbacks } from './languages/languages';
import { MailKind } from './mail-kinds';

export interface ChosenTemplate {
  readonly template: MailTemplate;
  /** What takes the place of a project's own one that fails; the same where there is none. */
  readonly standard: MailTemplate;
}

/**
 * A project that has templates of its own for a kind speaks there in its own words only: in the receiver's language if
 * it has that (`reset.de`), else in the one without a language (`reset`). Parts that it leaves out are Plinth's.
 * @param preferences language tags, the most wanted first
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

/** Tags compare without regard to case (RFC 5646, 2.1.1). */
function keyFor(own: object, kind: MailKind, tag: string): string | undefined {
  return Object.keys(own).find((key) => key.toLowerCase() === `${kind}.${tag}`);
}
