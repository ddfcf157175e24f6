/** Statements that several batches about an account have in common. */
import { Statement } from '../../database/pools/pipelined-query';

/** For a batch, first: the statements after it see what others that locked the account did. A lock within one comes after its snapshot. */
export const lockAccount = (userId: string): Statement => ({
  name: 'auth:lock-account',
  text: 'select from auth.users where id = $1 for no key update',
  values: [userId],
});

/**
 * For a batch, after a statement that sets a password: other ways to set one end, and so does a change of the address. The
 * owner of an account is told to set a new password where a thief asked for that change.
 * @param passwordHash the new one; where it was not set, nothing happens
 */
export const dropTokensAfterPassword = (userId: string, passwordHash: string): Statement => ({
  name: 'auth:drop-tokens-after-password',
  text: `delete from auth.mailed_tokens where user_id = $1 and kind in ('reset', 'invite', 'email_change')
      and exists (select from auth.users u where u.id = $1 and u.encrypted_password = $2)`,
  values: [userId, passwordHash],
});
