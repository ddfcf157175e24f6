/** The mail of an invitation. */
import { escapeHtml } from '../../common/text/html';

interface InvitationMail {
  /** Name of the staff member who invites; null stands for the operator of the installation. */
  readonly inviter: string | null;
  readonly link: string;
  readonly hours: number;
}

/** Leaves out a name that could be read as a link or as a separate message. */
const SAFE_NAME = /^[\p{L}\p{M}\p{N} '.-]{1,80}$/u;

export function invitationMail({ inviter, link, hours }: InvitationMail): {
  subject: string;
  text: string;
  html: string;
} {
  const who = inviter !== null && SAFE_NAME.test(inviter) ? inviter : 'The operator of a Plinth';
  const first = `${who} invites you to an account for the administration of Plinth.`;
  const days = `The link works once, within ${Math.round(hours / 24)} days. If you did not expect it, ignore this mail.`;
  return {
    subject: 'Your invitation to Plinth',
    text: `${first}\n\nTo accept, open this link and choose a password:\n${link}\n\n${days}\n`,
    html: `<p>${escapeHtml(first)}</p><p><a href="${escapeHtml(link)}">Accept the invitation</a></p><p>${days}</p>`,
  };
}
