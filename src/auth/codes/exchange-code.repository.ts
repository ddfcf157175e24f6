/** Rows of auth.exchange_codes: codes that a mailed link or a provider's callback gave to a client with PKCE. */
import { Injectable } from '@nestjs/common';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { CodeChallenge } from '../mail/mail-flow';
import { SIGN_IN_METHODS, SignInMethod } from '../sessions/session';

const TABLE = 'auth.exchange_codes';
const REASON = 'a code is the only credential';
const MAX_CHALLENGE = 200;
/** Bytes: an identity, and tokens of a provider. */
const MAX_SEALED = 256 * 1024;

export interface ExchangeCode {
  readonly userId: string;
  readonly method: SignInMethod;
  readonly challenge: CodeChallenge;
  /** Encrypted for the code; null for the code of a mail. */
  readonly sealed: Buffer | null;
}

@Injectable()
export class ExchangeCodeRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async insert(project: Project, hash: Buffer, code: ExchangeCode, expiresAt: Date): Promise<void> {
    const { userId, method, challenge, sealed } = code;
    await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:insert-exchange-code',
      text: `insert into auth.exchange_codes (code_hash, user_id, method, code_challenge, code_challenge_method, expires_at, sealed)
        values ($1, $2, $3, $4, $5, $6, $7)`,
      values: [hash, userId, method, challenge.challenge, challenge.method, expiresAt, sealed],
    });
  }

  /** Only one of several parallel uses gets the row. @returns null for a code that is spent, expired or unknown */
  async spend(project: Project, hash: Buffer, now: Date): Promise<ExchangeCode | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:spend-exchange-code',
      text: `with spent as (delete from auth.exchange_codes where code_hash = $1 returning *)
        select user_id, method, code_challenge, code_challenge_method, sealed from spent where expires_at > $2`,
      values: [hash, now],
    });
    if (!rows[0]) return null;
    const code = new RecordReader(TABLE, rows[0]);
    return {
      userId: code.uuid('user_id'),
      method: code.oneOf('method', SIGN_IN_METHODS),
      challenge: {
        challenge: code.text('code_challenge', MAX_CHALLENGE),
        method: code.oneOf('code_challenge_method', ['s256', 'plain']),
      },
      sealed: code.bytesOrNull('sealed', MAX_SEALED),
    };
  }
}
