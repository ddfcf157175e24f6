/** Security keys and passkeys as second factors (WebAuthn). */
import { Injectable } from '@nestjs/common';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { passkeyFailed } from '../../identity/identity.errors';
import {
  creationOptions,
  requestOptions,
  verifyAssertion,
  verifyCreation,
} from '../../identity/passkeys/webauthn';
import type { Sender } from '../../identity/request-origin';
import type { Project } from '../../projects/project';
import type { Account } from '../accounts/account';
import type { SessionOwner } from '../accounts/account-statements';
import { challengeBytes, expiryOf, newChallenge, type NewChallenge } from './challenges';
import { partiesOf, partyOf, partyWithId } from './relying-parties';
import type { SignedIn } from '../sessions/session-issuer.service';
import { keyText, type SealedFactor } from './factor';
import { FactorService } from './factor.service';
import type { FactorProof } from './session-raise.repository';

const DEFAULT_NAME = 'Security key';

export const factorSubject = ({ sessionId }: SessionOwner, factorId: string): string =>
  `factor:${sessionId}:${factorId}`;

export type KeyOptions =
  | { readonly type: 'create'; readonly options: PublicKeyCredentialCreationOptionsJSON }
  | { readonly type: 'request'; readonly options: PublicKeyCredentialRequestOptionsJSON };

/** An authenticator's answer to a challenge. The caller has checked that the challenge is for the session and the factor. */
export interface KeyAnswer {
  readonly id: string;
  readonly challengeId: string;
  readonly credential: JsonObject;
}

@Injectable()
export class SecurityKeys {
  constructor(
    private readonly factors: FactorService,
    private readonly clock: Clock,
  ) {}

  /** Begins the enrolment of a key; verify() completes it. @throws AppError 400, 403, 404 */
  async enrol(
    from: Sender,
    owner: SessionOwner,
    givenName: string | undefined,
  ): Promise<{ readonly id: string; readonly name: string }> {
    partyOf(from.project, undefined);
    const [id, name] = [randomUUID(), givenName?.trim() || DEFAULT_NAME];
    await this.factors.insert(from, owner, { id, kind: 'webauthn', name, sealedSecret: null });
    return { id, name };
  }

  /**
   * @param rpId requested by the application; ignored unless it is one of the project's
   * @throws AppError 404
   */
  async challenge(
    project: Project,
    owner: SessionOwner,
    account: Account,
    id: string,
    { rpId, site }: { readonly rpId: string | undefined; readonly site: string | undefined },
  ): Promise<NewChallenge & KeyOptions> {
    const { key } = await this.factors.find(project, owner, id);
    const subject = factorSubject(owner, id);
    const issued = newChallenge(project, subject, this.clock.now());
    const challenge = challengeBytes(project, subject, issued.id);
    if (key) {
      const options = requestOptions({ id: key.rpId }, challenge);
      return {
        ...issued,
        type: 'request',
        options: { ...options, allowCredentials: [{ id: key.credentialId, type: 'public-key' }] },
      };
    }
    const party = partiesOf(project).find((one) => one.id === rpId) ?? partyOf(project, site);
    const options = await creationOptions(party, account, { known: [], challenge, isDiscoverable: false });
    return { ...issued, type: 'create', options };
  }

  /** @throws AppError 401, 404, 429 */
  verify(from: Sender, owner: SessionOwner, answer: KeyAnswer): Promise<SignedIn> {
    const challenge = challengeBytes(from.project, factorSubject(owner, answer.id), answer.challengeId);
    return this.factors.prove(from, owner, answer.id, {
      refused: passkeyFailed,
      check: (factor) => proofOf(from.project, factor, challenge, answer).catch(() => null),
    });
  }
}

/** @throws AppError 401, 404 */
async function proofOf(
  project: Project,
  { kind, key, verified }: SealedFactor,
  challenge: string,
  { challengeId, credential }: KeyAnswer,
): Promise<FactorProof | null> {
  if (kind !== 'webauthn' || verified !== (key !== null)) return null;
  const step = expiryOf(challengeId);
  const method = 'mfa/webauthn';
  if (!key)
    return {
      step,
      method,
      credential: keyText(await verifyCreation(partiesOf(project), challenge, credential)),
    };
  const party = partyWithId(project, key.rpId);
  const counter = await verifyAssertion(party, challenge, credential, key, false);
  return { step, method, credential: keyText({ ...key, counter }) };
}
