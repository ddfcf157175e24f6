/** The hosted pages' answer to a request that fails before a page handles it: throttled, too long, unknown project. */
import { AppError } from '../../common/errors/app-error';
import { HtmlPage } from '../../http/errors/error-renderer';
import { parseAcceptLanguage } from '../../http/syntax/accept-language';
import { languageFor } from '../mail/languages/languages';
import { mailPage } from './mail-page';

const PATH = /^\/(?:v1\/auth\/[^/]+|p\/[^/]+\/auth\/v1)\/(reset|verify)(?:\/confirm)?\/?$/;

/** @returns null if the path is not that of a hosted page */
export function mailErrorPage(
  error: AppError,
  path: string,
  acceptLanguage: string | undefined,
): HtmlPage | null {
  const match = PATH.exec(path);
  if (!match) return null;
  const { tag, pages } = languageFor(parseAcceptLanguage(acceptLanguage));
  const message = error.status === 404 ? pages.invalidToken : pages.failed;
  return mailPage({ language: tag, title: pages[match[1] === 'reset' ? 'reset' : 'verify'].title, message });
}
