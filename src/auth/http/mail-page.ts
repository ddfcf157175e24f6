/**
 * The HTML of the hosted pages. They are plain forms that load nothing and work without JavaScript. A GET spends nothing:
 * the token is sent by POST when the user presses the button.
 */
import { randomBytes } from 'node:crypto';
import { HtmlPage } from '../../http/errors/error-renderer';
import { escapeHtml } from '../../common/text/html';
import type { Sender } from '../../identity/request-origin';
import { LanguageTexts } from '../mail/languages/language';
import { minLength, passwordFault } from '../../identity/passwords/password-policy';
import { AppError } from '../../common/errors/app-error';
import { parseAcceptLanguage } from '../../http/syntax/accept-language';
import { languageFor } from '../mail/languages/languages';

export interface MailPage {
  readonly language: string;
  readonly title: string;
  /** The name of the project; absent if it is unknown. */
  readonly project?: string;
  /** The outcome: success or an error. */
  readonly message?: string;
  /** Names and values. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Absent if there is nothing left to do. */
  readonly form?: MailForm;
  /** Origin to which the answer to the form redirects: browsers apply `form-action` to it too. */
  readonly formTarget?: string;
}

export interface MailForm {
  /** Path of the page, relative to itself. */
  readonly action: string;
  readonly token: string;
  /** Further fields. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly button: string;
  readonly password?: { readonly label: string; /** Characters. */ readonly minLength: number };
}

export function mailPage(page: MailPage): HtmlPage {
  const nonce = randomBytes(16).toString('base64');
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy(nonce, page.formTarget),
      'Cache-Control': 'no-store',
      // The URL contains the token.
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    },
    html: render(page, nonce),
  };
}

/** @param nonce allows the page's own style and script (CSP level 3) */
function render(page: MailPage, nonce: string): string {
  return `<!doctype html>
<html lang="${escapeHtml(page.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(page.title)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(page.title)}</h1>
${page.project === undefined ? '' : `<p>${escapeHtml(page.project)}</p>`}
${page.message === undefined ? '' : `<p id="message" role="status">${escapeHtml(page.message)}</p>`}
${page.facts ? renderFacts(page.facts) : ''}
${page.form ? renderForm(page.form) : ''}
</main>
<script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`;
}

function renderFacts(facts: Readonly<Record<string, string>>): string {
  const rows = Object.entries(facts).map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
  );
  return `<dl>${rows.join('\n')}</dl>`;
}

function renderForm({ action, token, fields = {}, button, password }: MailForm): string {
  const hidden = Object.entries({ token, ...fields });
  return `<form method="post" action="${escapeHtml(action)}">
${hidden.map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`).join('\n')}
${password ? passwordField(password) : ''}
<button>${escapeHtml(button)}</button>
</form>`;
}

function passwordField({ label, minLength }: NonNullable<MailForm['password']>): string {
  return `<label for="password">${escapeHtml(label)}</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${minLength}" maxlength="72" required autofocus>`;
}

const STYLE = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
main { max-width: 24rem; margin: 15vh auto 0; padding: 0 1rem; }
dd { overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin-bottom: 0; }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input, button { padding: .6rem; margin: .4rem 0 1rem; }
`;

/** The only use of JavaScript: removes the token from the address bar, and so from the history. */
const SCRIPT = `history.replaceState(null, '', location.pathname);`;

/** Allows the page's own style, script and form, and no frame around it. */
function contentSecurityPolicy(nonce: string, formTarget = ''): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    `form-action 'self' ${formTarget}`.trim(),
    "frame-ancestors 'none'",
  ].join('; ');
}

export interface PageContext extends Sender {
  readonly page: 'reset' | 'verify' | 'signIn' | 'link';
  readonly texts: LanguageTexts;
}

export type PageContent = Pick<MailPage, 'message' | 'form' | 'formTarget'>;

export function pageOf({ page, project, texts }: PageContext, content: PageContent): MailPage {
  return { language: texts.tag, title: texts.pages[page].title, project: project.name, ...content };
}

/**
 * @param token the token in the request; only a text that has the form of a token is written into the page
 * @param asksPassword true shows a field for a password
 */
export function formOf(
  { page, project, texts }: PageContext,
  token: unknown,
  asksPassword = page === 'reset',
): MailForm {
  const password = {
    label: texts.pages[page === 'reset' ? page : 'verify'].label,
    minLength: minLength(project.settings),
  };
  return {
    action: page,
    token: typeof token === 'string' && /^[\w-]{43}$/.test(token) ? token : '',
    button: texts.pages[page].button,
    ...(asksPassword ? { password } : {}),
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
