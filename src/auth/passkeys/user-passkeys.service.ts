/**
 * Passkeys with which users sign in. A challenge is bound to the project and, for an enrolment, to the session; it works once, for
 * five minutes.
 */
import { Injectable } from '@nestjs/common';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { invalidCredentials } from '../../access/access.errors';
import type { JsonObject } from '../../common/text/json';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { passkeyFailed } from '../../identity/identity.errors';
import {
  creationOptions,
  credentialIdOf,
  requestOptions,
  verifyAssertion,
  verifyCreation,
} from '../../identity/passkeys/webauthn';
import type { Sender, RequestOrigin } from '../../identity/request-origin';
import type { Project } from '../../projects/project';
import { assertMaySignIn } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import type { SessionOwner } from '../accounts/account-statements';
import { byServiceRole, byUser, type AuditContext } from '../audit/audit-entry';
import { passkeyChallengeNotFound, passkeyNotFound, passkeysDisabled, tooManyPasskeys } from '../auth.errors';
import { ReauthenticationService } from '../codes/reauthentication.service';
import {
  challengeBytes,
  expiryOf,
  isChallenge,
  newChallenge,
  type NewChallenge,
} from '../factors/challenges';
import { IdentityRepository } from '../providers/identity.repository';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionStarter } from '../sessions/session-starter.service';
import { MAX_PASSKEYS, type Passkey, PasskeyRepository } from './passkey.repository';
import { partiesOf, partyOf, partyWithId } from '../factors/relying-parties';

const DEFAULT_NAME = 'Passkey';

export interface IssuedChallenge<Options> {
  readonly challengeId: string;
  readonly options: Options;
  /** Unix seconds. */
  readonly expiresAt: number;
}

export interface GivenCredential {
  readonly challengeId: string;
  readonly credential: JsonObject;
}

@Injectable()
export class UserPasskeys {
  constructor(
    private readonly passkeys: PasskeyRepository,
    private readonly accounts: AccountRepository,
    private readonly states: IdentityRepository,
    private readonly starter: SessionStarter,
    private readonly throttle: GuessThrottle,
    private readonly reauthentication: ReauthenticationService,
    private readonly clock: Clock,
  ) {}

  /** @param site `Origin` of the request @throws AppError 400, 401, 403, 404 */
  async beginEnrolment(
    project: Project,
    owner: SessionOwner,
    site: string | undefined,
  ): Promise<IssuedChallenge<PublicKeyCredentialCreationOptionsJSON>> {
    const party = partyOf(project, site);
    // A passkey signs in, so adding one requires the same proofs as changing the password.
    await this.accounts.assertStrong(project, owner);
    await this.reauthentication.assertFresh(project, owner);
    const account = await this.accounts.findLive(project, owner.userId, owner.sessionId, this.clock.date());
    if (!account) throw invalidCredentials();
    const known = await this.passkeys.credentialIds(project, owner.userId);
    if (known.length >= MAX_PASSKEYS) throw tooManyPasskeys(MAX_PASSKEYS);
    const issued = newChallenge(project, enrolmentOf(owner), this.clock.now());
    const challenge = challengeBytes(project, enrolmentOf(owner), issued.id);
    return toIssued(issued, await creationOptions(party, account, { known, challenge }));
  }

  /** @throws AppError 400, 401, 403, 404 */
  async enrol({ project, origin }: Sender, owner: SessionOwner, given: GivenCredential): Promise<Passkey> {
    const parties = partiesOf(project);
    if (parties.length === 0) throw passkeysDisabled();
    const challenge = this.open(project, enrolmentOf(owner), given.challengeId);
    await this.accounts.assertStrong(project, owner);
    await this.reauthentication.assertFresh(project, owner);
    await this.spend(project, given.challengeId);
    const verified = await verifyCreation(parties, challenge, given.credential);
    const name = DEFAULT_NAME;
    const entry = byUser('passkey_added', owner.userId, this.context(origin, { name }));
    const made = await this.passkeys.insert(project, owner, verified, name, entry);
    if (!made) throw passkeyFailed();
    return made;
  }

  /** Reveals nothing about accounts. @throws AppError 404 */
  begin(project: Project, site: string | undefined): IssuedChallenge<PublicKeyCredentialRequestOptionsJSON> {
    const party = partyOf(project, site);
    const issued = newChallenge(project, SIGN_IN, this.clock.now());
    return toIssued(issued, requestOptions(party, challengeBytes(project, SIGN_IN, issued.id)));
  }

  /** The passkey is the only factor, so it must have verified its user. @throws AppError 401, 403, 404, 429 */
  async signIn(from: Sender, given: GivenCredential): Promise<SignedIn> {
    partyOf(from.project, undefined);
    const userId = await this.throttle.attemptOrThrow(from, () => this.userWith(from.project, given));
    const credentials = await this.accounts.findCredentialsById(from.project, userId);
    if (!credentials) throw passkeyFailed();
    assertMaySignIn(from.project, credentials.account, this.clock.now());
    const started = await this.starter.start(from, credentials, 'passkey');
    if (!started) throw passkeyFailed();
    return started;
  }

  list(project: Project, userId: string): Promise<Passkey[]> {
    return this.passkeys.list(project, userId);
  }

  /** @throws AppError 404 */
  async rename(project: Project, userId: string, id: string, name: string): Promise<Passkey> {
    const renamed = UUID.test(id) ? await this.passkeys.rename(project, userId, id, name.trim()) : null;
    if (!renamed) throw passkeyNotFound();
    return renamed;
  }

  /** @throws AppError 403, 404 */
  async remove({ project, origin }: Sender, owner: SessionOwner, id: string): Promise<void> {
    await this.accounts.assertStrong(project, owner);
    const entry = byUser('passkey_removed', owner.userId, this.context(origin, { passkey: id }));
    if (!UUID.test(id) || !(await this.passkeys.remove(project, owner.userId, id, entry)))
      throw passkeyNotFound();
  }

  /** @throws AppError 404 */
  async removeAsAdmin({ project, origin }: Sender, userId: string, id: string): Promise<void> {
    const entry = byServiceRole('passkey_removed', userId, this.context(origin, { passkey: id }));
    const isGone =
      UUID.test(id) && UUID.test(userId) && (await this.passkeys.remove(project, userId, id, entry));
    if (!isGone) throw passkeyNotFound();
  }

  private async userWith(project: Project, { challengeId, credential }: GivenCredential): Promise<string> {
    const challenge = this.open(project, SIGN_IN, challengeId);
    const id = credentialIdOf(credential);
    const stored = id === null ? null : await this.passkeys.find(project, id);
    if (!stored) throw passkeyFailed();
    await this.spend(project, challengeId);
    const party = partyWithId(project, stored.rpId);
    const counter = await verifyAssertion(party, challenge, credential, stored, true);
    if (!(await this.passkeys.use(project, stored.id, counter, this.clock.date()))) throw passkeyFailed();
    return stored.userId;
  }

  private context(origin: RequestOrigin, details: JsonObject): AuditContext {
    return { now: this.clock.date(), origin, details };
  }

  /** @returns the bytes of the challenge */
  private open(project: Project, subject: string, id: string): string {
    if (!isChallenge(project, subject, id, this.clock.now())) throw passkeyChallengeNotFound();
    return challengeBytes(project, subject, id);
  }

  private async spend(project: Project, id: string): Promise<void> {
    const isFirst = await this.states.useState(project, id, new Date(expiryOf(id)), this.clock.date());
    if (!isFirst) throw passkeyChallengeNotFound();
  }
}

const SIGN_IN = 'passkey sign-in';

const enrolmentOf = ({ sessionId }: SessionOwner): string => `passkey enrolment:${sessionId}`;

const toIssued = <Options>({ id, expiresAt }: NewChallenge, options: Options): IssuedChallenge<Options> => ({
  challengeId: id,
  options,
  expiresAt: Math.floor(expiresAt / 1000),
});
