/** What Plinth says to users in one language: mails, and the pages that they link to. One file a language. */
import { MailTemplate } from '../../../infra/mail/mail-template';
import { MailKind } from '../mail-kinds';

/** Liquid, with the values project, name, email, new_email, link, token, hours. */
export interface LanguageTexts {
  /** Primary subtag of RFC 5646, such as `de`. */
  readonly tag: string;
  readonly mails: Readonly<Record<MailKind, MailTemplate>>;
  readonly pages: PageTexts;
}

interface PageTexts {
  readonly reset: FormTexts & { readonly label: string };
  readonly verify: FormTexts;
  /** What a token that is spent, too old or mangled says. */
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

/** A mail with a link, in parts: text and HTML say the same. */
export interface LinkMailParts {
  readonly subject: string;
  /** The sentence that says what the mail is about. */
  readonly intro: string;
  /** Asks to open the address, in the text. */
  readonly open: string;
  /** On the link, in the HTML. */
  readonly button: string;
  /** What to do when the receiver expected nothing. */
  readonly end: string;
}

/** What all mails with a link of a language share. */
export interface LinkMailFrame {
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

{{ token }}

${frame.validity}
${parts.end}
`,
    html: `<p>${frame.greeting}</p>
<p>${parts.intro}</p>
<p><a href="{{ link }}">${parts.button}</a></p>
<p>${frame.enterToken}</p>
<p><code>{{ token }}</code></p>
<p>${frame.validity} ${parts.end}</p>
`,
  };
}

/** A mail that only tells. */
export function noticeMail(greeting: string, subject: string, lines: readonly string[]): MailTemplate {
  return {
    subject,
    text: `${greeting}\n\n${lines.join('\n')}\n`,
    html: [greeting, ...lines].map((line) => `<p>${line}</p>\n`).join(''),
  };
}
