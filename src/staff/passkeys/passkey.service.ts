/** Passkeys of staff: enrolment, and the proof that a staff member holds one. */
import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { JsonObject } from '../../common/text/json';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { hashRecoveryCode, newRecoveryCodes } from '../../identity/factors/recovery-codes';
import { passkeyFailed } from '../../identity/identity.errors';
import {
  creationOptions,
  credentialIdOf,
  type RelyingParty,
  requestOptions,
  verifyAssertion,
  verifyCreation,
} from '../../identity/passkeys/webauthn';
import { auditEntry, StaffMember, StaffMemberRecord } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { actorAs } from '../roles/staff';
import type { Browser, StaffBrowser } from '../sessions/browser';
import { StaffFlows } from '../sessions/staff-flows.service';
import { passkeyNotFound, tooManyPasskeys } from '../staff.errors';
import { MAX_PASSKEYS, PasskeyRecord, PasskeyRepository } from './passkey.repository';

interface SignInChallenge {
  readonly challenge: string;
}

interface EnrolmentChallenge extends SignInChallenge {
  readonly sessionId: string;
}

export interface EnrolledPasskey {
  readonly record: PasskeyRecord;
  /** Empty if the staff member had codes already. They are not shown again. */
  readonly recoveryCodes: readonly string[];
}

@Injectable()
export class Passkeys {
  private readonly party: RelyingParty;

  constructor(
    private readonly passkeys: PasskeyRepository,
    private readonly members: StaffMemberRepository,
    private readonly flows: StaffFlows,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    const { origin, hostname } = new URL(publicUrl);
    this.party = { id: hostname, name: 'Plinth', origins: [origin] };
  }

  list({ id }: StaffMember): Promise<PasskeyRecord[]> {
    return this.passkeys.list(id);
  }

  /** @throws AppError 400 for too many passkeys */
  async beginEnrolment({
    member,
    session,
    response,
  }: StaffBrowser): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const known = await this.passkeys.credentialIds(member.id);
    if (known.length >= MAX_PASSKEYS) throw tooManyPasskeys(MAX_PASSKEYS);
    const options = await creationOptions(this.party, member, { known });
    const content: EnrolmentChallenge = { challenge: options.challenge, sessionId: session.id };
    this.flows.begin(response, 'passkey-enrolment', content);
    return options;
  }

  /** @throws AppError 400 for too many passkeys, 401 for a response that is not valid for this enrolment */
  async enrol(
    { member, session, request, response, origin }: StaffBrowser,
    { name, credential }: { readonly name: string; readonly credential: JsonObject },
  ): Promise<EnrolledPasskey> {
    const flow = this.flows.continue<EnrolmentChallenge>(request, 'passkey-enrolment');
    if (flow.content.sessionId !== session.id) throw passkeyFailed();
    const verified = await verifyCreation([this.party], flow.content.challenge, credential);
    await this.flows.complete(flow, response);
    const codes = newRecoveryCodes();
    const owned = { memberId: member.id, name, now: this.clock.date() };
    const made = await this.passkeys.insert(
      { ...verified, ...owned, recoveryCodes: codes.map(hashRecoveryCode) },
      auditEntry('person.passkey_added', actorAs(member, origin.ip), { name }),
    );
    if (!made) throw passkeyFailed();
    return { record: made.record, recoveryCodes: made.hasNewCodes ? codes : [] };
  }

  /** @throws AppError 404 if the staff member has no such passkey */
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

  /** @throws AppError 404 if the staff member has no such passkey */
  async remove({ member, origin }: StaffBrowser, id: string): Promise<void> {
    const entry = auditEntry('person.passkey_removed', actorAs(member, origin.ip), { passkey_id: id });
    if (!UUID.test(id) || !(await this.passkeys.remove(member.id, id, entry))) throw passkeyNotFound();
  }

  /** The challenge of a sign-in. */
  challenge(response: Response): PublicKeyCredentialRequestOptionsJSON {
    const options = requestOptions(this.party);
    const content: SignInChallenge = { challenge: options.challenge };
    this.flows.begin(response, 'passkey', content);
    return options;
  }

  /**
   * The staff member who holds the passkey.
   * @param isOnlyFactor true if no other proof is required, so that the authenticator must have verified its user
   * @throws AppError 401 for a response that is not valid
   */
  async memberWith(
    credential: JsonObject,
    isOnlyFactor: boolean,
    { request, response }: Browser,
  ): Promise<StaffMemberRecord> {
    const flow = this.flows.continue<SignInChallenge>(request, 'passkey');
    const id = credentialIdOf(credential);
    const stored = id === null ? null : await this.passkeys.findByCredential(id);
    if (!stored) throw passkeyFailed();
    const { challenge } = flow.content;
    const counter = await verifyAssertion(this.party, challenge, credential, stored, isOnlyFactor);
    await this.flows.complete(flow, response);
    if (!(await this.passkeys.use(stored.id, counter, this.clock.date()))) throw passkeyFailed();
    const member = await this.members.find(stored.memberId);
    if (!member || member.disabledAt !== null) throw passkeyFailed();
    return member;
  }
}
