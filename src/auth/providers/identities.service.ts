/**
 * Decides which account an identity of a provider signs in to. An identity is linked to an account automatically only if the
 * provider and Plinth have both proved the same address: anybody can sign up with the address of somebody else, here and at
 * some providers. In all other cases a signed-in user links it.
 */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { invalidCredentials } from '../../access/access.errors';
import { Clock } from '../../common/time/clock';
import { isDomainAllowed, localPart } from '../../identity/email-address';
import type { RequestOrigin, Sender } from '../../identity/request-origin';
import type { Project } from '../../projects/project';
import { assertMaySignIn } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import { Credentials, refusingTakenAddress } from '../accounts/account-record';
import type { SessionOwner } from '../accounts/account-statements';
import { ReauthenticationService } from '../codes/reauthentication.service';
import { Hooks } from '../hooks/hooks.service';
import { byAnonymous, byUser } from '../audit/audit-entry';
import {
  addressNotProved,
  domainNotAllowed,
  identityNotFound,
  identityTaken,
  lastIdentity,
  linkingDisabled,
  noAddress,
  signUpDisabled,
} from '../auth.errors';
import { IdentityRepository } from './identity.repository';
import type { ProviderIdentity } from './provider-identity';

@Injectable()
export class IdentitiesService {
  constructor(
    private readonly identities: IdentityRepository,
    private readonly accounts: AccountRepository,
    private readonly hooks: Hooks,
    private readonly reauthentication: ReauthenticationService,
    private readonly clock: Clock,
  ) {}

  /** The account of an identity, which is created if there is none. @throws AppError 400, 403 */
  async accountOf({ project, origin }: Sender, identity: ProviderIdentity): Promise<Credentials> {
    const found =
      (await this.identities.signIn(project, identity, this.clock.date())) ??
      (await this.join({ project, origin }, identity)) ??
      // A parallel sign-in created the account.
      (await this.identities.signIn(project, identity, this.clock.date()));
    if (!found) throw addressNotProved();
    assertMaySignIn(project, found.account, this.clock.now());
    if (identity.customClaims)
      await this.identities.replaceClaims(
        project,
        found.account.id,
        identity.customClaims,
        this.clock.date(),
      );
    return found;
  }

  /** Adds an identity to the account of a session. @throws AppError 400, 401, 403, 422 */
  async link(
    { project, origin }: Sender,
    owner: SessionOwner,
    identity: ProviderIdentity,
  ): Promise<Credentials> {
    await this.assertMayLink(project, owner);
    const before = await this.accounts.findLive(project, owner.userId, owner.sessionId, this.clock.date());
    if (!before) throw invalidCredentials();
    if (before.isAnonymous) this.assertUsable(project, identity);
    const entry = byUser('identity_linked', owner.userId, this.context(identity, origin));
    const outcome = await this.identities.link(project, owner.userId, owner, identity, entry);
    if (outcome === 'taken') throw identityTaken();
    if (outcome === 'refused') throw invalidCredentials();
    if (before.isAnonymous)
      await refusingTakenAddress(
        this.identities.adoptAddress(project, owner.userId, identity, this.clock.date()),
      );
    const credentials = await this.accounts.findCredentialsById(project, owner.userId);
    if (!credentials) throw invalidCredentials();
    return credentials;
  }

  /** @throws AppError 401, 403, 404, 422 for the last identity */
  async unlink({ project, origin }: Sender, owner: SessionOwner, id: string): Promise<void> {
    await this.assertMayLink(project, owner);
    const context = { now: this.clock.date(), origin, details: { identity: id } };
    const entry = byUser('identity_unlinked', owner.userId, context);
    const outcome = await this.identities.unlink(project, owner, id, entry);
    if (outcome === 'refused') throw invalidCredentials();
    if (outcome === 'unknown') throw identityNotFound();
    if (outcome === 'last') throw lastIdentity();
  }

  /** An identity signs in, so linking one needs the same proofs as a new password. @throws AppError 400, 403, 404 */
  async assertMayLink(project: Project, owner: SessionOwner): Promise<void> {
    const { userId, sessionId } = owner;
    if (!project.settings.manual_linking_enabled) throw linkingDisabled();
    await this.accounts.assertStrong(project, owner);
    // Anonymous users have no other way to sign in again.
    const account = await this.accounts.findLive(project, userId, sessionId, this.clock.date());
    if (account?.isAnonymous !== true) await this.reauthentication.assertFresh(project, owner);
  }

  /** @returns null if a parallel sign-in created it first */
  private async join({ project, origin }: Sender, identity: ProviderIdentity): Promise<Credentials | null> {
    const { email } = identity;
    if (!email) throw noAddress();
    const account = await this.identities.findByEmail(project, email.key);
    if (!account) return this.create({ project, origin }, identity);
    if (!identity.isEmailVerified || !account.isProved) throw addressNotProved();
    const entry = byAnonymous('identity_linked', account.id, this.context(identity, origin));
    const target = { emailKey: email.key };
    const outcome = await this.identities.link(project, account.id, target, identity, entry);
    if (outcome === 'taken') return null;
    const credentials = await this.accounts.findCredentialsById(project, account.id);
    if (outcome === 'refused' && credentials) assertMaySignIn(project, credentials.account, this.clock.now());
    if (outcome === 'refused') throw addressNotProved();
    return credentials;
  }

  private async create({ project, origin }: Sender, identity: ProviderIdentity): Promise<Credentials | null> {
    const email = this.assertUsable(project, identity);
    const { provider, isEmailVerified, name, data } = identity;
    if (!project.settings.signup_enabled) throw signUpDisabled();
    const now = this.clock.date();
    const account = {
      id: randomUUID(),
      email,
      name: name ?? localPart(email),
      passwordHash: null,
      data,
      appData: { provider, providers: [provider] },
      emailVerifiedAt: isEmailVerified ? now : null,
      now,
    };
    await this.hooks.beforeUserCreated({ project, origin }, account);
    const entry = byAnonymous('sign_up', account.id, this.context(identity, origin));
    const isCreated = await this.identities.create(project, account, identity, entry);
    return isCreated ? this.accounts.findCredentialsById(project, account.id) : null;
  }

  /** The address that an account may get from an identity. */
  private assertUsable(
    project: Project,
    { email, isEmailVerified }: ProviderIdentity,
  ): NonNullable<ProviderIdentity['email']> {
    if (!email) throw noAddress();
    if (project.settings.email_verification_required && !isEmailVerified) throw addressNotProved();
    if (!isDomainAllowed(email, project.settings.allowed_email_domains)) throw domainNotAllowed();
    return email;
  }

  private context(
    { provider }: ProviderIdentity,
    origin: RequestOrigin,
  ): { now: Date; origin: RequestOrigin; details: { provider: string } } {
    return { now: this.clock.date(), origin, details: { provider } };
  }
}
