/** Creates the first owner by a one-time link. Links stop working once there is an owner. */
import { Inject, Injectable } from '@nestjs/common';
import { getEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { refusingDuplicate } from '../../database/sql/sqlstate';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { StaffPasswords } from '../accounts/staff-password.service';
import { STAFF_GUESSES } from '../accounts/staff-member';
import { hashToken, newSecretToken } from '../../identity/secret-token';
import { SignedInStaff, StaffSignIn } from '../sessions/staff-sign-in.service';
import { staffMemberExists, setupOver, setupTokenInvalid } from '../staff.errors';
import { SetupRepository } from './setup.repository';

const LIFETIME_MS = 24 * 60 * 60_000;

export interface SetupLink {
  readonly link: string;
  readonly expiresAt: Date;
}

export interface FirstOwner {
  readonly token: string;
  readonly email: string;
  readonly password: string;
  readonly name: string;
}

@Injectable()
export class SetupService {
  constructor(
    private readonly setup: SetupRepository,
    private readonly members: StaffMemberRepository,
    private readonly passwords: StaffPasswords,
    private readonly signIn: StaffSignIn,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  /** True while the installation has no owner. */
  async isNeeded(): Promise<boolean> {
    return !(await this.members.hasOwner());
  }

  /** A link that is printed at the start; null if there is an owner. Links of earlier starts stay valid until they expire. */
  async linkAtStart(): Promise<SetupLink | null> {
    return (await this.isNeeded()) ? this.newLink() : null;
  }

  /** @throws AppError 409 if there is an owner */
  async makeLink(): Promise<SetupLink> {
    if (!(await this.isNeeded())) throw setupOver();
    return this.newLink();
  }

  /**
   * @throws AppError 403 for a link that is not valid, 409 if there is an owner, 400 for an unacceptable
   * password, 429 for too many attempts
   */
  async createOwner(input: FirstOwner, origin: RequestOrigin): Promise<SignedInStaff> {
    const from = { project: STAFF_GUESSES, origin };
    const { address: email, key: emailKey } = getEmailAddress(input.email);
    const hash = hashToken(input.token);
    // Checked before the password is hashed, so that requests without a valid link cost little.
    if (!(await this.isNeeded())) throw setupOver();
    const isValid = await this.throttle.attemptFrom(from, () => this.setup.isValid(hash, this.clock.date()));
    if (!isValid) throw setupTokenInvalid();
    const passwordHash = await this.passwords.hashNew(input.password);
    const names = { email, emailKey, name: input.name };
    const owner = { ...names, role: 'owner', passwordHash, emailVerifiedAt: null } as const;
    const made = this.members.whileOwnersStay(async (manager) => {
      if (await this.members.hasOwner(manager)) throw setupOver();
      if (!(await this.setup.isValid(hash, this.clock.date(), manager))) throw setupTokenInvalid();
      await this.setup.clear(manager);
      return this.members.insert(owner, manager);
    });
    const member = await refusingDuplicate(made, staffMemberExists);
    return this.signIn.beginFor(member, 'person.set_up', origin);
  }

  private async newLink(): Promise<SetupLink> {
    const { token, hash } = newSecretToken();
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.setup.add(hash, this.clock.date(), expiresAt);
    // The token follows the hash sign, so that neither a server's log nor a Referer header contains it.
    return { link: `${this.server.publicUrl}/console/setup#${token}`, expiresAt };
  }
}
