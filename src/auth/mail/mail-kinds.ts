/** The mails that accounts cause, with the templates that a project's own take the place of. */
import { MailTemplate } from '../../infra/mail/mail-template';

export const MAIL_KINDS = ['reset', 'verify', 'email_change', 'email_change_notice', 'invite'] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export function isMailKind(text: string): text is MailKind {
  return (MAIL_KINDS as readonly string[]).includes(text);
}

/** Values: project, name, email, new_email, link, token, hours. */
export const DEFAULT_TEMPLATES: Readonly<Record<MailKind, MailTemplate>> = {
  reset: withToken({
    subject: 'Reset your password for {{ project }}',
    text: 'somebody, probably you, asked for a new password for your account at {{ project }}.\nOpen this address to choose one:',
    button: 'Choose a new password',
    end: 'If it was not you, ignore this mail: your password stays as it is.',
  }),
  verify: withToken({
    subject: 'Confirm your email address for {{ project }}',
    text: 'please confirm that {{ email }} is your address.\nOpen this address to do so:',
    button: 'Confirm the address',
    end: 'If you have no account at {{ project }}, ignore this mail.',
  }),
  email_change: withToken({
    subject: 'Confirm your new email address for {{ project }}',
    text: 'please confirm that {{ email }} shall be the new address of your account at {{ project }}.\nOpen this address to do so:',
    button: 'Confirm the new address',
    end: 'If it was not you, ignore this mail: nothing changes.',
  }),
  email_change_notice: {
    subject: 'Your email address for {{ project }} is about to change',
    text: `Hello {{ name }},

the address of your account at {{ project }} is about to change to {{ new_email }}.
If it was not you, change your password now.
`,
    html: `<p>Hello {{ name }},</p>
<p>the address of your account at {{ project }} is about to change to <strong>{{ new_email }}</strong>.</p>
<p>If it was not you, change your password now.</p>
`,
  },
  invite: withToken({
    subject: 'You are invited to {{ project }}',
    text: 'an account at {{ project }} was made for you.\nOpen this address to choose a password:',
    button: 'Choose a password',
    end: 'If you did not expect this, ignore this mail.',
  }),
};

function withToken(parts: { subject: string; text: string; button: string; end: string }): MailTemplate {
  return {
    subject: parts.subject,
    text: `Hello {{ name }},

${parts.text}

{{ link }}

Or enter this token where you are asked for it:

{{ token }}

It is valid for {{ hours }} hour{% if hours != 1 %}s{% endif %} and works once.
${parts.end}
`,
    html: `<p>Hello {{ name }},</p>
<p>${parts.text.split('\n')[0] ?? ''}</p>
<p><a href="{{ link }}">${parts.button}</a></p>
<p>Or enter this token where you are asked for it:</p>
<p><code>{{ token }}</code></p>
<p>It is valid for {{ hours }} hour{% if hours != 1 %}s{% endif %} and works once. ${parts.end}</p>
`,
  };
}
