/** The second factor of a staff member: an authenticator app, with recovery codes. */
import { Inject, Injectable } from '@nestjs/common';
import { Guess, GuessThrottle } from '../../identity/guess-throttle.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { newTotpKey, stepOfCode } from '../../identity/factors/totp';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../../infra/crypto/secret-box';
import { auditEntry, STAFF_GUESSES, type StaffMember } from '../accounts/staff-member';
import { actorAs } from '../roles/staff';
import { factorExists, noFactor, wrongFactorCode } from '../staff.errors';
import { hashRecoveryCode, newRecoveryCodes } from '../../identity/factors/recovery-codes';
import { StaffFactorRepository, StoredFactor } from './staff-factor.repository';

const ISSUER = 'Plinth';

@Injectable()
export class StaffFactors {
  private readonly box: SecretBox;

  constructor(
    private readonly factors: StaffFactorRepository,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
    @Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig,
  ) {
    this.box = new SecretBox(masterKey, otherMasterKey);
  }

  /** Begins the enrolment; confirm() completes it. @throws AppError 409 if the account has a factor */
  async begin({ id, email }: StaffMember): Promise<{ secret: string; uri: string }> {
    const { secret, uri } = newTotpKey(ISSUER, email);
    if (!(await this.factors.begin(id, this.box.seal(secret, purposeOf(id))))) throw factorExists();
    return { secret, uri };
  }

  /**
   * @returns the recovery codes, which are not shown again
   * @throws AppError 401 for a wrong code, 404 if no enrolment has begun, 409 if the account has a factor,
   * 429 for too many attempts
   */
  async confirm(member: StaffMember, code: string, origin: RequestOrigin): Promise<string[]> {
    const factor = await this.factors.find(member.id);
    if (!factor) throw noFactor();
    if (factor.confirmed) throw factorExists();
    await this.guarded(member, origin, () => this.useCode(member.id, factor, code));
    const codes = newRecoveryCodes();
    const entry = auditEntry('person.factor_added', actorAs(member, origin.ip));
    const hashes = codes.map(hashRecoveryCode);
    const now = this.clock.date();
    if (!(await this.factors.confirm(member.id, factor.sealed, now, hashes, entry))) throw noFactor();
    return codes;
  }

  /** @throws AppError 401 for a wrong code, 404 without a confirmed factor, 429 for too many attempts */
  async remove(member: StaffMember, code: string, origin: RequestOrigin): Promise<void> {
    const factor = await this.factors.find(member.id);
    if (!factor?.confirmed) throw noFactor();
    await this.assertCode(member, code, origin);
    await this.factors.remove(member.id, auditEntry('person.factor_removed', actorAs(member, origin.ip)));
  }

  /**
   * Accepts a code of the app or a recovery code, each once.
   * @param staff member with a second factor
   * @throws AppError 401 for a wrong code, 429 for too many attempts
   */
  async assertCode(member: StaffMember, code: string, origin: RequestOrigin): Promise<void> {
    const factor = await this.factors.find(member.id);
    await this.guarded(
      member,
      origin,
      async () =>
        // An account whose second factors are passkeys has only recovery codes.
        (factor?.confirmed === true && (await this.useCode(member.id, factor, code))) ||
        (await this.factors.useRecoveryCode(member.id, hashRecoveryCode(code))),
    );
  }

  private async useCode(memberId: string, { sealed }: StoredFactor, code: string): Promise<boolean> {
    const step = stepOfCode(this.box.open(sealed, purposeOf(memberId)), code, this.clock.now());
    return step !== null && (await this.factors.useStep(memberId, step));
  }

  private async guarded(
    member: StaffMember,
    origin: RequestOrigin,
    isRight: () => Promise<boolean>,
  ): Promise<void> {
    const guess: Guess = { project: STAFF_GUESSES, account: `factor:${member.id}`, origin };
    if (!(await this.throttle.attempt(guess, isRight))) throw wrongFactorCode();
  }
}

const purposeOf = (memberId: string): string => `staff-totp:${memberId}`;
