/** Passkeys of staff (WebAuthn): enrolment, and the proof that a staff member holds one. */
import { Inject, Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { RequestOrigin } from '../../identity/request-origin';
import type { JsonObject } from '../../common/text/json';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import type { StaffMember, StaffMemberRecord } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { hashRecoveryCode, newRecoveryCodes } from '../factors/recovery-codes';
import { actorAs, SessionOfRequest } from '../roles/staff';
import { SignInFlows } from '../sessions/sign-in-flows.service';
import { passkeyFailed, passkeyNotFound, tooManyPasskeys } from '../staff.errors';
import { PasskeyRecord, PasskeyRepository } from './passkey.repository';

export const MAX_PASSKEYS = 20;
/** Characters; authenticators use at most 1023 bytes. */
const MAX_CREDENTIAL_ID = 1_400;
const MAX_TRANSPORTS = 10;
/** Milliseconds for which a browser asks for the passkey. */
const CHALLENGE_MS = 60_000;

interface SignInChallenge {
  readonly challenge: string;
}

interface EnrolmentChallenge extends SignInChallenge {
  readonly sessionId: string;
}

export interface EnrolledPasskey {
  readonly record: PasskeyRecord;
  /** Empty if the staff member had some. Not shown again. */
  readonly recoveryCodes: readonly string[];
}

@Injectable()
export class Passkeys {
  private readonly origin: string;
  private readonly rpId: string;

  constructor(
    private readonly passkeys: PasskeyRepository,
    private readonly members: StaffMemberRepository,
    private readonly flows: SignInFlows,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    const { origin, hostname } = new URL(publicUrl);
    [this.origin, this.rpId] = [origin, hostname];
  }

  list({ id }: StaffMember): Promise<PasskeyRecord[]> {
    return this.passkeys.list(id);
  }

  /** @throws AppError 400 for too many */
  async beginEnrolment(
    member: StaffMember,
    session: SessionOfRequest,
    response: Response,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const known = await this.passkeys.credentialIds(member.id);
    if (known.length >= MAX_PASSKEYS) throw tooManyPasskeys(MAX_PASSKEYS);
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    const options = await generateRegistrationOptions({
      rpName: 'Plinth',
      rpID: this.rpId,
      userID: Buffer.from(member.id),
      userName: member.email,
      userDisplayName: member.name,
      attestationType: 'none',
      excludeCredentials: known.map((id) => ({ id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
    });
    const content: EnrolmentChallenge = { challenge: options.challenge, sessionId: session.id };
    this.flows.begin(response, 'passkey-enrolment', content);
    return options;
  }

  /** @throws AppError 401 for an answer that is not valid for this enrolment */
  async enrol(
    member: StaffMember,
    session: SessionOfRequest,
    input: { readonly name: string; readonly credential: JsonObject },
    { request, response, origin }: { request: Request; response: Response; origin: RequestOrigin },
  ): Promise<EnrolledPasskey> {
    const flow = this.flows.continue<EnrolmentChallenge>(request, 'passkey-enrolment');
    if (flow.content.sessionId !== session.id) throw passkeyFailed();
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const { registrationInfo } = await verifyRegistrationResponse({
      response: input.credential as unknown as RegistrationResponseJSON,
      expectedChallenge: flow.content.challenge,
      expectedOrigin: this.origin,
      expectedRPID: this.rpId,
      requireUserVerification: false,
    }).catch((error: unknown) => {
      throw passkeyFailed(error);
    });
    if (!registrationInfo || registrationInfo.credential.id.length > MAX_CREDENTIAL_ID) throw passkeyFailed();
    await this.flows.complete(flow, response);
    const { id: credentialId, publicKey, counter, transports = [] } = registrationInfo.credential;
    const codes = newRecoveryCodes();
    const { name } = input;
    const made = await this.passkeys.insert(
      {
        memberId: member.id,
        credentialId,
        publicKey: Buffer.from(publicKey),
        counter,
        transports: transports.filter((one) => typeof one === 'string').slice(0, MAX_TRANSPORTS),
        name,
        now: new Date(this.clock.now()),
        recoveryCodes: codes.map(hashRecoveryCode),
      },
      {
        actor: actorAs(member, origin.ip),
        action: 'person.passkey_added',
        projectId: null,
        details: { name },
      },
    );
    if (!made) throw passkeyFailed();
    return { record: made.record, recoveryCodes: made.hasNewCodes ? codes : [] };
  }

  /** @throws AppError 404 */
  async rename({ id: memberId }: StaffMember, id: string, name: string): Promise<PasskeyRecord> {
    const record = UUID.test(id) ? await this.passkeys.rename(memberId, id, name) : null;
    if (!record) throw passkeyNotFound();
    return record;
  }

  /** @throws AppError 404 unless it is a passkey of the staff member */
  async assertOwn({ id: memberId }: StaffMember, id: string): Promise<void> {
    const own = await this.passkeys.list(memberId);
    if (!own.some((passkey) => passkey.id === id)) throw passkeyNotFound();
  }

  /** @throws AppError 404 */
  async remove(member: StaffMember, id: string, origin: RequestOrigin): Promise<void> {
    const actor = actorAs(member, origin.ip);
    const entry = { actor, action: 'person.passkey_removed', projectId: null, details: { passkey_id: id } };
    if (!UUID.test(id) || !(await this.passkeys.remove(member.id, id, entry))) throw passkeyNotFound();
  }

  /** The challenge of a sign-in. It names no credentials, so it tells nothing about accounts. */
  challenge(response: Response): PublicKeyCredentialRequestOptionsJSON {
    // Without the library: loading it holds the event loop for a second, and anybody may ask for a challenge.
    const challenge = randomBytes(32).toString('base64url');
    const content: SignInChallenge = { challenge };
    this.flows.begin(response, 'passkey', content);
    return { challenge, rpId: this.rpId, timeout: CHALLENGE_MS, userVerification: 'preferred' };
  }

  /**
   * The staff member who holds the passkey.
   * @param isOnlyFactor true: the authenticator must have verified its user, as nothing else is asked for
   * @throws AppError 401
   */
  async memberWith(
    credential: JsonObject,
    isOnlyFactor: boolean,
    request: Request,
    response: Response,
  ): Promise<StaffMemberRecord> {
    const flow = this.flows.continue<SignInChallenge>(request, 'passkey');
    const { id } = credential;
    const usable = typeof id === 'string' && id.length <= MAX_CREDENTIAL_ID && !id.includes('\0');
    const stored = usable ? await this.passkeys.findByCredential(id) : null;
    if (!stored) throw passkeyFailed();
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: credential as unknown as AuthenticationResponseJSON,
      expectedChallenge: flow.content.challenge,
      expectedOrigin: this.origin,
      expectedRPID: this.rpId,
      credential: {
        id: stored.credentialId,
        publicKey: new Uint8Array(stored.publicKey),
        counter: stored.counter,
      },
      requireUserVerification: isOnlyFactor,
    }).catch((error: unknown) => {
      throw passkeyFailed(error);
    });
    if (!verified) throw passkeyFailed();
    await this.flows.complete(flow, response);
    const now = new Date(this.clock.now());
    if (!(await this.passkeys.use(stored.id, authenticationInfo.newCounter, now))) throw passkeyFailed();
    const member = await this.members.find(stored.memberId);
    if (!member || member.disabledAt !== null) throw passkeyFailed();
    return member;
  }
}
