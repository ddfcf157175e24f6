/** The content of a hosted page: its texts in the reader's language, its form, its errors. */
import { Project } from '../../projects/project';
import { LanguageTexts } from '../mail/languages/language';
import { minLength, passwordFault } from '../../identity/passwords/password-policy';
import { MailForm, MailPage } from './mail-page';

export interface PageContext {
  readonly page: 'reset' | 'verify' | 'signIn';
  readonly project: Project;
  readonly texts: LanguageTexts;
}

export function pageOf(
  { page, project, texts }: PageContext,
  content: Pick<MailPage, 'message' | 'form'>,
): MailPage {
  return { language: texts.tag, title: texts.pages[page].title, project: project.name, ...content };
}

/** @param token from the request; only a text that has the form of a token is written into the page */
export function formOf({ page, project, texts }: PageContext, token: unknown): MailForm {
  const { reset } = texts.pages;
  const password = { label: reset.label, minLength: minLength(project.settings) };
  return {
    action: page,
    token: typeof token === 'string' && /^[\w-]{43}$/.test(token) ? token : '',
    button: texts.pages[page].button,
    ...(page === 'reset' ? { password } : {}),
  };
}

/** The fault of a new password in the reader's language, or null. */
export function faultOf({ project, texts }: PageContext, password: string): string | null {
  const fault = passwordFault(password, project.settings);
  if (!fault) return null;
  const { tooShort, tooLong, tooCommon, failed } = texts.pages;
  const messages = {
    too_short: tooShort.replace('{min}', String(minLength(project.settings))),
    too_long: tooLong,
    too_common: tooCommon,
    unusable: failed,
  };
  return messages[fault.kind];
}
