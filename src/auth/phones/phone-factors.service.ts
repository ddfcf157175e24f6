/** Phones as second factors. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { RequestOrigin } from '../../identity/request-origin';
import type { Project } from '../../projects/project';
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
    project: Project,
    owner: SessionOwner,
    { phone, name: givenName }: { readonly phone: string; readonly name: string | undefined },
    origin: RequestOrigin,
  ): Promise<{ readonly id: string; readonly friendly_name: string }> {
    assertSendsMessages(project);
    const [id, name] = [randomUUID(), givenName?.trim() || DEFAULT_NAME];
    await this.factors.insert(project, owner, { id, kind: 'phone', name, sealedSecret: null, phone }, origin);
    return { id, friendly_name: name };
  }

  /** Sends a code. @throws AppError 400, 404, 429, and as Hooks.runHook() */
  async challenge(project: Project, owner: SessionOwner, id: string, origin: RequestOrigin): Promise<void> {
    const { phone } = await this.factors.find(project, owner, id);
    if (phone === null) throw factorNotFound();
    await this.codes.send(project, { id: codeId(id), phone, userId: owner.userId, account: null }, origin);
  }

  /** Raises the session with the code of an app or of a phone. @throws AppError 401, 404, 429 */
  verify(
    project: Project,
    owner: SessionOwner,
    { id, challengeId, code }: { readonly id: string; readonly challengeId: string; readonly code: string },
    origin: RequestOrigin,
  ): Promise<SignedIn> {
    return this.factors.prove(project, owner, id, origin, {
      refused: wrongCode,
      check: async (factor) => {
        if (factor.kind !== 'phone') return this.factors.proofOfCode(project, factor, { id, code });
        const spent = await this.codes.spend(project, codeId(id), code);
        return spent && { step: expiryOf(challengeId), method: 'mfa/phone' };
      },
    });
  }
}
