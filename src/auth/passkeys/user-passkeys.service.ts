/**
 * Passkeys with which users sign in. A challenge travels through the client, encrypted and bound to the project, the domain and, for an
 * enrolment, to the session; it works once, for five minutes.
 */
import { Injectable } from '@nestjs/common';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { randomUUID } from 'node:crypto';
import { invalidCredentials } from '../../access/access.errors';
import { TWO_FACTORS } from '../../access/caller';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { passkeyFailed } from '../../identity/identity.errors';
import {
  creationOptions,
  credentialIdOf,
  type RelyingParty,
  requestOptions,
  verifyAssertion,
  verifyCreation,
} from '../../identity/passkeys/webauthn';
import type { RequestOrigin } from '../../identity/request-origin';
import { SecretBox } from '../../infra/crypto/secret-box';
import type { Project } from '../../projects/project';
import { isBanned } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import type { SessionOwner } from '../accounts/account-statements';
import { byServiceRole, byUser } from '../audit/audit-entry';
import {
  emailNotVerified,
  passkeyNotFound,
  passkeysDisabled,
  secondFactorRequired,
  tooManyPasskeys,
  userBanned,
} from '../auth.errors';
import { ReauthenticationService } from '../codes/reauthentication.service';
import { IdentityRepository } from '../providers/identity.repository';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionStarter } from '../sessions/session-starter.service';
import { MAX_PASSKEYS, type Passkey, PasskeyRepository } from './passkey.repository';

/** Milliseconds. */
const LIFETIME_MS = 5 * 60_000;
/** Characters of a challenge as clients have it. */
const MAX_CHALLENGE = 2_000;
const DEFAULT_NAME = 'Passkey';

interface Challenge {
  readonly id: string;
  readonly until: number;
  readonly challenge: string;
  readonly rpId: string;
  /** Of an enrolment. */
  readonly sessionId: string | null;
}

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
    await this.assertMayEnrol(project, owner);
    await this.reauthentication.assertFresh(project, owner);
    const account = await this.accounts.findLive(project, owner.userId, owner.sessionId, this.now());
    if (!account) throw invalidCredentials();
    const known = await this.passkeys.credentialIds(project, owner.userId);
    if (known.length >= MAX_PASSKEYS) throw tooManyPasskeys(MAX_PASSKEYS);
    const options = await creationOptions(party, account, known);
    return this.issue(project, party, options, owner.sessionId);
  }

  /** @throws AppError 400, 401, 403, 404 */
  async enrol(
    project: Project,
    owner: SessionOwner,
    given: GivenCredential,
    origin: RequestOrigin,
  ): Promise<Passkey> {
    const challenge = this.open(project, given.challengeId);
    if (challenge.sessionId !== owner.sessionId) throw passkeyFailed();
    await this.assertMayEnrol(project, owner);
    await this.reauthentication.assertFresh(project, owner);
    const party = partyWithId(project, challenge.rpId);
    const verified = await verifyCreation(party, challenge.challenge, given.credential);
    await this.spend(project, challenge);
    const name = DEFAULT_NAME;
    const entry = byUser('passkey_added', owner.userId, { now: this.now(), origin, details: { name } });
    const made = await this.passkeys.insert(project, owner, verified, { name, rpId: party.id }, entry);
    if (!made) throw passkeyFailed();
    return made;
  }

  /** Tells nothing about accounts. @throws AppError 404 */
  begin(project: Project, site: string | undefined): IssuedChallenge<PublicKeyCredentialRequestOptionsJSON> {
    const party = partyOf(project, site);
    return this.issue(project, party, requestOptions(party), null);
  }

  /** The passkey is the only factor, so it must have verified its user. @throws AppError 401, 403, 404, 429 */
  async signIn(project: Project, given: GivenCredential, origin: RequestOrigin): Promise<SignedIn> {
    partyOf(project, undefined);
    const fault: unknown[] = [];
    const userId = await this.throttle.attemptFrom({ project, origin }, () =>
      this.userWith(project, given).catch((error: unknown) => {
        fault.push(error);
        return null;
      }),
    );
    if (userId === null) throw fault[0];
    const credentials = await this.accounts.findCredentialsById(project, userId);
    if (!credentials) throw passkeyFailed();
    const { account } = credentials;
    if (isBanned(account, this.clock.now())) throw userBanned();
    if (project.settings.email_verification_required && account.emailVerifiedAt === null)
      throw emailNotVerified();
    const started = await this.starter.start(project, credentials, 'passkey', origin);
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
  async remove(project: Project, owner: SessionOwner, id: string, origin: RequestOrigin): Promise<void> {
    await this.assertMayEnrol(project, owner);
    const entry = byUser('passkey_removed', owner.userId, {
      now: this.now(),
      origin,
      details: { passkey: id },
    });
    if (!UUID.test(id) || !(await this.passkeys.remove(project, owner.userId, id, entry)))
      throw passkeyNotFound();
  }

  /** @throws AppError 404 */
  async removeAsAdmin(project: Project, userId: string, id: string, origin: RequestOrigin): Promise<void> {
    const entry = byServiceRole('passkey_removed', userId, {
      now: this.now(),
      origin,
      details: { passkey: id },
    });
    const isGone =
      UUID.test(id) && UUID.test(userId) && (await this.passkeys.remove(project, userId, id, entry));
    if (!isGone) throw passkeyNotFound();
  }

  private async userWith(project: Project, { challengeId, credential }: GivenCredential): Promise<string> {
    const challenge = this.open(project, challengeId);
    const id = credentialIdOf(credential);
    const stored = id === null ? null : await this.passkeys.find(project, id);
    if (!stored || challenge.sessionId !== null || stored.rpId !== challenge.rpId) throw passkeyFailed();
    const party = partyWithId(project, challenge.rpId);
    const counter = await verifyAssertion(party, challenge.challenge, credential, stored, true);
    await this.spend(project, challenge);
    if (!(await this.passkeys.use(project, stored.id, counter, this.now()))) throw passkeyFailed();
    return stored.userId;
  }

  /** A passkey signs in, so it needs what a change of the password needs. */
  private async assertMayEnrol(project: Project, { userId, aal }: SessionOwner): Promise<void> {
    if (aal !== TWO_FACTORS && (await this.accounts.hasSecondFactor(project, userId)))
      throw secondFactorRequired();
  }

  private issue<Options extends { readonly challenge: string }>(
    project: Project,
    { id: rpId }: RelyingParty,
    options: Options,
    sessionId: string | null,
  ): IssuedChallenge<Options> {
    const until = this.clock.now() + LIFETIME_MS;
    const content: Challenge = { id: randomUUID(), until, challenge: options.challenge, rpId, sessionId };
    const challengeId = new SecretBox(project.dataSecret).seal(JSON.stringify(content), PURPOSE);
    return {
      challengeId: challengeId.toString('base64url'),
      options,
      expiresAt: Math.floor(until / 1000),
    };
  }

  private open(project: Project, sealed: string): Challenge {
    if (sealed.length > MAX_CHALLENGE || !/^[\w-]+$/.test(sealed)) throw passkeyFailed();
    let content: unknown;
    try {
      content = parseJson(new SecretBox(project.dataSecret).open(Buffer.from(sealed, 'base64url'), PURPOSE));
    } catch (error) {
      throw passkeyFailed(error);
    }
    const challenge = isJsonObject(content) ? (content as unknown as Challenge) : null;
    if (!challenge || challenge.until <= this.clock.now()) throw passkeyFailed();
    return challenge;
  }

  private async spend(project: Project, { id, until }: Challenge): Promise<void> {
    if (!(await this.states.useState(project, id, new Date(until), this.now()))) throw passkeyFailed();
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

const PURPOSE = 'passkey-challenge';

/**
 * The relying party of a request. `webauthn_rp_id` is that of its domain and the domains below; an origin elsewhere is a relying
 * party by itself, with its host as id.
 * @throws AppError 404 if passkeys are turned off, or there is no origin
 */
function partyOf(project: Project, site: string | undefined): RelyingParty {
  const origins = originsOf(project);
  const origin = origins.find((one) => one === site) ?? origins[0];
  if (!project.settings.passkeys_enabled || origin === undefined) throw passkeysDisabled();
  return partyWithId(project, rpIdOf(project, origin));
}

function partyWithId(project: Project, id: string): RelyingParty {
  const origins = originsOf(project).filter((origin) => rpIdOf(project, origin) === id);
  if (!project.settings.passkeys_enabled || origins.length === 0) throw passkeysDisabled();
  return { id, name: project.settings.webauthn_rp_name ?? project.name, origins };
}

function originsOf({ settings }: Project): string[] {
  const given = [...settings.webauthn_origins, ...(settings.site_url === null ? [] : [settings.site_url])];
  return given.filter((one) => URL.canParse(one)).map((one) => new URL(one).origin);
}

function rpIdOf({ settings: { webauthn_rp_id: id } }: Project, origin: string): string {
  const { hostname } = new URL(origin);
  return id !== null && (hostname === id || hostname.endsWith(`.${id}`)) ? id : hostname;
}
