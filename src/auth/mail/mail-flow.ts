/** The steps that follow a mail of `/auth/v1`: its code, the target of its link, and PKCE. */
import { createHmac, hkdfSync, randomInt } from 'node:crypto';
import { Project } from '../../projects/project';
import type { MailedToken } from './mailed-token';

/** RFC 7636. */
export interface CodeChallenge {
  readonly challenge: string;
  readonly method: 's256' | 'plain';
}

export interface MailFlow {
  /** An address that the project allows; null: the hosted page only says that it is done. */
  readonly redirectTo: string | null;
  readonly challenge?: CodeChallenge;
}

const DIGITS = 6;

type CodedProject = Pick<Project, 'id' | 'dataSecret'>;

/** The token with a code, and the values for its mail. Without a flow there is no code. @param subject as for hashCode() */
export function withCode<T extends MailedToken>(
  project: CodedProject,
  token: T,
  subject: string,
  flow: MailFlow | undefined,
): { token: T & CodedToken; content: FlowContent } {
  if (!flow) return { token, content: { token: token.plaintext } };
  const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
  return {
    token: { ...token, codeHash: hashCode(project, subject, code), challenge: flow.challenge },
    content: { token: token.plaintext, code, redirectTo: flow.redirectTo },
  };
}

export interface CodedToken {
  readonly codeHash?: Buffer;
  readonly challenge?: CodeChallenge;
}

/** See SealedMail. */
interface FlowContent {
  readonly token: string;
  readonly code?: string;
  readonly redirectTo?: string | null;
}

/**
 * A plain hash of six digits could be reversed by trying all of them.
 * @param subject the key of the mail's address, or the user's id for reauthentication
 */
export function hashCode({ id, dataSecret }: CodedProject, subject: string, code: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', dataSecret, '', 'plinth mail code v1', 32));
  return createHmac('sha256', key).update(`${id}:${subject}:${code.trim()}`).digest();
}
