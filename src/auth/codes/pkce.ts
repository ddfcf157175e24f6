/** Proof key for code exchange (RFC 7636): parameters, and the check of a verifier. */
import { createHash } from 'node:crypto';
import { invalidParameters } from '../../common/errors/app-error';
import { equalSecrets } from '../../infra/crypto/constant-time';
import { CodeChallenge } from '../mail/mail-flow';

/** RFC 7636, 4.1 and 4.2: the same characters and lengths for both. */
const VALUE = /^[A-Za-z0-9._~-]{43,128}$/;

/** @throws AppError 400 for one value without the other, or a malformed value */
export function challengeOf(challenge?: string | null, method?: string | null): CodeChallenge | undefined {
  if (!challenge && !method) return undefined;
  if (!challenge || !method)
    throw invalidParameters('PKCE flow requires code_challenge_method and code_challenge');
  const lower = method.toLowerCase();
  if (lower !== 's256' && lower !== 'plain')
    throw invalidParameters('code_challenge_method must be s256 or plain');
  if (!VALUE.test(challenge))
    throw invalidParameters('code challenge has to be between 43 and 128 characters');
  return { challenge, method: lower };
}

export function isVerifierOf({ challenge, method }: CodeChallenge, verifier: string): boolean {
  if (!VALUE.test(verifier)) return false;
  const expected = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  return equalSecrets(expected, challenge);
}
