/** Codes that a client with PKCE exchanges for a session: each once, and only with the verifier of the challenge. */
import { Injectable } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { Clock } from '../../common/time/clock';
import { parseJson } from '../../common/text/json';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { Sender } from '../../identity/request-origin';
import { SecretBox } from '../../infra/crypto/secret-box';
import { Project } from '../../projects/project';
import { invalidExchangeCode, wrongVerifier } from '../auth.errors';
import { ExchangeCode, ExchangeCodeRepository } from './exchange-code.repository';
import { isVerifierOf } from './pkce';

/** Milliseconds in which the client must exchange a code. */
const EXCHANGE_MS = 300_000;

@Injectable()
export class CodeExchange {
  constructor(
    private readonly codes: ExchangeCodeRepository,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** @param extra additional data for the exchange, which is encrypted @returns the code */
  async issue(project: Project, content: Omit<ExchangeCode, 'sealed'>, extra?: object): Promise<string> {
    const code = randomUUID();
    const expiresAt = new Date(this.clock.now() + EXCHANGE_MS);
    const sealed = extra ? boxOf(project).seal(JSON.stringify(extra), purposeOf(code)) : null;
    await this.codes.insert(project, hashOf(code), { ...content, sealed }, expiresAt);
    return code;
  }

  /** A code is spent by the first attempt, even with a wrong verifier. @throws AppError 401, 429 */
  async spend<Extra>(
    from: Sender,
    { code, verifier }: { code: string; verifier: string },
  ): Promise<Omit<ExchangeCode, 'sealed'> & { readonly extra: Extra | null }> {
    const spent = await this.throttle.attemptFrom(from, async () => {
      const found = await this.codes.spend(from.project, hashOf(code), this.clock.date());
      if (found && !isVerifierOf(found.challenge, verifier)) throw wrongVerifier();
      return found;
    });
    if (!spent) throw invalidExchangeCode();
    const { sealed, ...content } = spent;
    return { ...content, extra: sealed && open(from.project, sealed, code) };
  }
}

function open<Extra>(project: Project, sealed: Buffer, code: string): Extra {
  try {
    return parseJson(boxOf(project).open(sealed, purposeOf(code))) as Extra;
  } catch {
    // The row was altered.
    throw invalidExchangeCode();
  }
}

const boxOf = ({ dataSecret }: Project): SecretBox => new SecretBox(dataSecret);

const purposeOf = (code: string): string => `exchange-code:${code}`;

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
