/** The kinds of mails. Their texts are in languages/, unless a project has its own templates. */

export const MAIL_KINDS = [
  'reset',
  'verify',
  'email_change',
  'email_change_notice',
  'invite',
  'magic_link',
  'reauthentication',
  'new_device',
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export function isMailKind(text: string): text is MailKind {
  return MAIL_KINDS.some((kind) => kind === text);
}
