/** What requests for a mail or a message name: the type of a mail as the kinds of its tokens, a phone, and where its link leads. */
import { MailedTokenKind } from '../../mail/mailed-token';
import { invalidPhone } from './gotrue-errors';
import type { PkceDto, VerifyType } from './dto/gotrue-inputs.dto';
import type { Project } from '../../../projects/project';
import { challengeOf } from '../../codes/pkce';
import { redirectFor } from '../../codes/redirects';
import type { MailFlow } from '../../mail/mail-flow';

/** `email` is the code of any mail that signs in. */
const KINDS: Readonly<Record<VerifyType, readonly MailedTokenKind[]>> = {
  signup: ['verify', 'magic_link'],
  invite: ['invite'],
  magiclink: ['magic_link', 'verify'],
  recovery: ['reset'],
  email_change: ['email_change'],
  email: ['magic_link', 'verify', 'invite'],
  sms: [],
  phone_change: [],
};

export const kindsOf = (type: VerifyType): readonly MailedTokenKind[] => KINDS[type];

export function isVerifyType(text: string): text is VerifyType {
  return Object.hasOwn(KINDS, text);
}

/**
 * The phone number without spaces and the plus sign.
 * @throws GoTrueError 400 unless it is in the form of E.164, as GoTrue checks it
 */
export function phoneOf(text = ''): string {
  const phone = text.replaceAll(' ', '').replace(/^\+/, '');
  if (!/^[1-9]\d{1,14}$/.test(phone)) throw invalidPhone();
  return phone;
}

export function flowOf(project: Project, redirectTo: string | undefined, pkce: PkceDto): MailFlow {
  const challenge = challengeOf(pkce.code_challenge, pkce.code_challenge_method);
  return { redirectTo: redirectFor(project.settings, redirectTo), challenge };
}
