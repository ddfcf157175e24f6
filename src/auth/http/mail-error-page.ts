/** What the pages that mails link to show to a request that did not come as far: throttled, too long, no such project. */
import { AppError } from '../../common/errors/app-error';
import { HtmlPage } from '../../http/errors/error-renderer';
import { languageFor, parseAcceptLanguage } from '../mail/languages/languages';
import { mailPage } from './mail-page';

const PATH = /^\/v1\/auth\/[^/]+\/(reset|verify)\/?$/;

/** Null where the path is none of the pages'. */
export function mailErrorPage(
  error: AppError,
  path: string,
  acceptLanguage: string | undefined,
): HtmlPage | null {
  const name = PATH.exec(path)?.[1] as 'reset' | 'verify' | undefined;
  if (name === undefined) return null;
  const { tag, pages } = languageFor(parseAcceptLanguage(acceptLanguage));
  const message = error.status === 404 ? pages.invalidToken : pages.failed;
  return mailPage({ language: tag, title: pages[name].title, message });
}
