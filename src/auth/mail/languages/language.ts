/** The texts for users in one language: mails, and the pages that they link to. Each language has a file. */
import { MailTemplate } from '../../../infra/mail/mail-template';
import { MailKind } from '../mail-kinds';

/**
 * The texts are Liquid templates with the values project, name, email, new_email, link, token, code, hours, signed_in_at, ip,
 * client.
 */
export interface LanguageTexts {
  /** Primary subtag of RFC 5646, such as `de`. */
  readonly tag: string;
  readonly mails: Readonly<Record<MailKind, MailTemplate>>;
  readonly pages: PageTexts;
}

interface PageTexts {
  readonly reset: FormTexts & { readonly label: string };
  /**
   * `label`: the label of the password field, which is shown if somebody else may have signed up. `noPassword`: the message for a
   * confirmed address whose account has no password.
   */
  readonly verify: FormTexts & { readonly label: string; readonly noPassword: string };
  readonly signIn: FormTexts;
  /** Asks whether an identity of a provider is linked. */
  readonly link: FormTexts;
  /** For a token that is spent, expired or incomplete. */
  readonly invalidToken: string;
  /** `{min}` stands for the number of characters. */
  readonly tooShort: string;
  readonly tooLong: string;
  readonly tooCommon: string;
  readonly failed: string;
}

interface FormTexts {
  readonly title: string;
  readonly button: string;
  readonly done: string;
}

/** The parts of a mail with a link, from which both text and HTML are made. */
interface LinkMailParts {
  readonly subject: string;
  /** The sentence that gives the purpose of the mail. */
  readonly intro: string;
  /** In the text version: asks the reader to open the address. */
  readonly open: string;
  /** In the HTML version: the text of the link. */
  readonly button: string;
  /** Advice for a recipient who did not cause the mail. */
  readonly end: string;
}

/** The parts that all mails with a link share in one language. */
interface LinkMailFrame {
  readonly greeting: string;
  readonly enterToken: string;
  readonly validity: string;
}

export function linkMail(frame: LinkMailFrame, parts: LinkMailParts): MailTemplate {
  return {
    subject: parts.subject,
    text: `${frame.greeting}

${parts.intro}
${parts.open}

{{ link }}

${frame.enterToken}

{{ code | default: token }}

${frame.validity}
${parts.end}
`,
    html: `<p>${frame.greeting}</p>
<p>${parts.intro}</p>
<p><a href="{{ link }}">${parts.button}</a></p>
<p>${frame.enterToken}</p>
<p><code>{{ code | default: token }}</code></p>
<p>${frame.validity} ${parts.end}</p>
`,
  };
}

/** A mail without a link. */
export function noticeMail(greeting: string, subject: string, lines: readonly string[]): MailTemplate {
  return {
    subject,
    text: `${greeting}\n\n${lines.join('\n')}\n`,
    html: [greeting, ...lines].map((line) => `<p>${line}</p>\n`).join(''),
  };
}
