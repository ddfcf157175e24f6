/** Phones as second factors. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Sender } from '../../identity/request-origin';
import type { SessionOwner } from '../accounts/account-statements';
import { factorNotFound, wrongCode } from '../auth.errors';
import { expiryOf } from '../factors/challenges';
import { FactorService } from '../factors/factor.service';
import type { SignedIn } from '../sessions/session-issuer.service';
import { assertSendsMessages, PhoneCodes } from './phone-codes.service';

const DEFAULT_NAME = 'Phone';

const codeId = (factorId: string): string => `factor:${factorId.toLowerCase()}`;

@Injectable()
export class PhoneFactors {
  constructor(
    private readonly factors: FactorService,
    private readonly codes: PhoneCodes,
  ) {}

  /** Begins the enrolment of a phone; verify() completes it. @throws AppError 400, 403 */
  async enrol(
    from: Sender,
    owner: SessionOwner,
    { phone, name: givenName }: { readonly phone: string; readonly name: string | undefined },
  ): Promise<{ readonly id: string; readonly friendly_name: string }> {
    assertSendsMessages(from.project);
    const [id, name] = [randomUUID(), givenName?.trim() || DEFAULT_NAME];
    await this.factors.insert(from, owner, { id, kind: 'phone', name, sealedSecret: null, phone });
    return { id, friendly_name: name };
  }

  /** Sends a code. @throws AppError 400, 404, 429, and as Hooks.runHook() */
  async challenge(from: Sender, owner: SessionOwner, id: string): Promise<void> {
    const { phone } = await this.factors.find(from.project, owner, id);
    if (phone === null) throw factorNotFound();
    await this.codes.send(from, { id: codeId(id), phone, userId: owner.userId, account: null });
  }

  /** Raises the session with the code of an app or of a phone. @throws AppError 401, 404, 429 */
  verify(
    from: Sender,
    owner: SessionOwner,
    { id, challengeId, code }: { readonly id: string; readonly challengeId: string; readonly code: string },
  ): Promise<SignedIn> {
    return this.factors.prove(from, owner, id, {
      refused: wrongCode,
      check: async (factor) => {
        if (factor.kind !== 'phone') return this.factors.proofOfCode(from.project, factor, { id, code });
        const spent = await this.codes.spend(from.project, codeId(id), code);
        return spent && { step: expiryOf(challengeId), method: 'mfa/phone' };
      },
    });
  }
}
