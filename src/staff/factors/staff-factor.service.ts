/** The second factor of a person: an authenticator app, with recovery codes. */
import { Inject, Injectable } from '@nestjs/common';
import { Guess, GuessScope, GuessThrottle } from '../../identity/guess-throttle.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { newTotpKey, stepOfCode } from '../../identity/totp';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../../infra/crypto/secret-box';
import { AuditEntry } from '../../install/audit/audit-log.repository';
import type { Person } from '../accounts/person';
import { STAFF_GUESSES } from '../accounts/staff-guesses';
import { actorAs } from '../roles/staff';
import { factorExists, noFactor, wrongFactorCode } from '../staff.errors';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes';
import { StaffFactorRepository, StoredFactor } from './staff-factor.repository';

const ISSUER = 'Plinth';

@Injectable()
export class StaffFactors {
  private readonly box: SecretBox;

  constructor(
    private readonly factors: StaffFactorRepository,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
    @Inject(SECRETS_CONFIG) { masterKey }: SecretsConfig,
  ) {
    this.box = new SecretBox(masterKey);
  }

  /** Begins the enrolment; confirm() completes it. @throws AppError 409 if the account has a factor */
  async begin({ id, email }: Person): Promise<{ secret: string; uri: string }> {
    const { secret, uri } = newTotpKey(ISSUER, email);
    if (!(await this.factors.begin(id, this.box.seal(secret, purposeOf(id))))) throw factorExists();
    return { secret, uri };
  }

  /**
   * @returns the recovery codes, which are not shown again
   * @throws AppError 401 for a wrong code, 404 if no enrolment began, 409 if the account has a factor, 429
   */
  async confirm(person: Person, code: string, origin: RequestOrigin): Promise<string[]> {
    const factor = await this.factors.find(person.id);
    if (!factor) throw noFactor();
    if (factor.confirmed) throw factorExists();
    await this.guarded(person, origin, () => this.useCode(person.id, factor, code));
    const codes = newRecoveryCodes();
    const entry = entryOf('person.factor_added', person, origin);
    const hashes = codes.map(hashRecoveryCode);
    const now = new Date(this.clock.now());
    if (!(await this.factors.confirm(person.id, factor.sealed, now, hashes, entry))) throw noFactor();
    return codes;
  }

  /** @throws AppError 401 for a wrong code, 404 without a confirmed factor, 429 */
  async remove(person: Person, code: string, origin: RequestOrigin): Promise<void> {
    const factor = await this.factors.find(person.id);
    if (!factor?.confirmed) throw noFactor();
    await this.assertCode(person, code, origin);
    await this.factors.remove(person.id, entryOf('person.factor_removed', person, origin));
  }

  /** Accepts a code of the app or a recovery code, each once. @param person with a second factor @throws AppError 401, 429 */
  async assertCode(person: Person, code: string, origin: RequestOrigin): Promise<void> {
    const factor = await this.factors.find(person.id);
    await this.guarded(
      person,
      origin,
      async () =>
        // An account whose second factors are passkeys has recovery codes only.
        (factor?.confirmed === true && (await this.useCode(person.id, factor, code))) ||
        (await this.factors.useRecoveryCode(person.id, hashRecoveryCode(code))),
    );
  }

  private async useCode(personId: string, { sealed }: StoredFactor, code: string): Promise<boolean> {
    const step = stepOfCode(this.box.open(sealed, purposeOf(personId)), code, this.clock.now());
    return step !== null && (await this.factors.useStep(personId, step));
  }

  /** Codes are compared quickly, so an attempt is counted before it is made. */
  private async guarded(
    person: Person,
    origin: RequestOrigin,
    isRight: () => Promise<boolean>,
  ): Promise<void> {
    const guess: Guess<GuessScope> = { project: STAFF_GUESSES, account: `factor:${person.id}`, origin };
    await this.throttle.chargeTry(guess);
    if (!(await isRight())) {
      await this.throttle.failedFrom(guess);
      throw wrongFactorCode();
    }
    await this.throttle.succeeded(guess);
  }
}

const purposeOf = (personId: string): string => `staff-totp:${personId}`;

const entryOf = (action: string, person: Person, origin: RequestOrigin): AuditEntry => ({
  actor: actorAs(person, origin.ip),
  action,
  projectId: null,
});
