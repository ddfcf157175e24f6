/** Second factors of a signed-in user: set up, shown, taken away; and the code that raises a session to two factors. */
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { invalidCredentials } from '../../access/access.errors';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../../infra/crypto/secret-box';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { AuditAction, AuditEntry, AuditRepository } from '../audit/audit.repository';
import { factorNotFound, secondFactorRequired, tooManyFactors, wrongCode } from '../auth.errors';
import { GuessThrottle } from '../accounts/guess-throttle.service';
import { RequestOrigin } from '../audit/request-origin';
import { SessionIssuer, SignedIn } from '../sessions/session-issuer.service';
import { SessionOwner } from '../sessions/session.repository';
import { Factor } from './factor';
import { Allowed, FactorRepository, MAX_FACTORS } from './factor.repository';
import { newTotpKey, stepOfCode } from './totp';
import { UUID } from '../../common/text/uuid';

const DEFAULT_NAME = 'Authenticator';

export interface EnrolledFactor {
  readonly id: string;
  readonly name: string;
  /** Shown once: afterwards only the database has it, encrypted. */
  readonly secret: string;
  readonly uri: string;
}

@Injectable()
export class FactorService {
  private readonly box: SecretBox;

  constructor(
    private readonly factors: FactorRepository,
    private readonly issuer: SessionIssuer,
    private readonly throttle: GuessThrottle,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
    @Inject(SECRETS_CONFIG) { masterKey }: SecretsConfig,
  ) {
    this.box = new SecretBox(masterKey);
  }

  /**
   * Begins to set up a factor; it counts once a code of it was verified.
   * @throws AppError 403 when the account has another factor and the session did not show it, 400 when it has enough
   */
  async enrol(
    project: Project,
    owner: SessionOwner,
    { email }: Pick<Account, 'email'>,
    name: string | undefined,
    origin: RequestOrigin,
  ): Promise<EnrolledFactor> {
    const id = randomUUID();
    const { secret, uri } = newTotpKey(project.name, email);
    const factor = {
      id,
      name: name?.trim() || DEFAULT_NAME,
      sealedSecret: this.box.seal(secret, purposeOf(project, id)),
      now: this.now(),
    };
    const entry = this.entry('factor_enrolled', origin, owner, id);
    if (!foundBy(await this.factors.insert(project, owner, factor, entry))) throw tooManyFactors(MAX_FACTORS);
    return { id, name: factor.name, secret, uri };
  }

  /** @throws AppError 401 when the session is over */
  async list(project: Project, owner: SessionOwner): Promise<Factor[]> {
    const factors = await this.factors.list(project, owner, this.now());
    if (!factors) throw invalidCredentials();
    return factors;
  }

  /**
   * Takes a code: the session has two factors from then on, with new tokens. The first code of a factor also completes
   * its set-up, and ends the other sessions that a password alone began.
   * @throws AppError 401 for a wrong or spent code, 404, 429
   */
  async verify(
    project: Project,
    owner: SessionOwner,
    { id, code }: { id: string; code: string },
    origin: RequestOrigin,
  ): Promise<SignedIn> {
    const factor = UUID.test(id) ? await this.factors.find(project, owner, id, this.now()) : null;
    if (!factor) throw factorNotFound();
    const guess = { project, account: `factors:${owner.userId}`, origin };
    await this.throttle.chargeTry(guess);
    const secret = this.box.open(factor.sealedSecret, purposeOf(project, id.toLowerCase()));
    const step = stepOfCode(secret, code, this.clock.now());
    const entry = this.entry(factor.verified ? 'factor_used' : 'factor_verified', origin, owner, id);
    const raised =
      step === null ? null : await this.factors.raise(project, owner, { id, step, now: this.now() }, entry);
    if (!raised) {
      await this.throttle.failedFrom(guess);
      await this.audit.write(project, this.entry('factor_failed', origin, owner, id));
      throw wrongCode();
    }
    await this.throttle.succeeded(guess);
    return this.issuer.issue(project, raised);
  }

  /** @throws AppError 403 when the session did not show a second factor, 404 */
  async remove(project: Project, owner: SessionOwner, id: string, origin: RequestOrigin): Promise<void> {
    const entry = this.entry('factor_removed', origin, owner, id);
    const isGone = UUID.test(id) && foundBy(await this.factors.remove(project, owner, id, this.now(), entry));
    if (!isGone) throw factorNotFound();
  }

  /** For an administrator. */
  listOf(project: Project, userId: string): Promise<Factor[]> {
    return UUID.test(userId) ? this.factors.listOf(project, userId) : Promise.resolve([]);
  }

  /** For an administrator, when a user has lost it. @throws AppError 404 */
  async removeOf(project: Project, userId: string, id: string, origin: RequestOrigin): Promise<void> {
    if (!UUID.test(userId) || !UUID.test(id)) throw factorNotFound();
    const entry: AuditEntry = {
      action: 'factor_removed',
      now: this.now(),
      origin,
      actorRole: 'service_role',
      actorId: null,
      userId,
      details: { factor_id: id },
    };
    if (!(await this.factors.removeOf(project, userId, id, entry))) throw factorNotFound();
  }

  private entry(
    action: AuditAction,
    origin: RequestOrigin,
    { userId }: SessionOwner,
    id: string,
  ): AuditEntry {
    const details = { factor_id: UUID.test(id) ? id : null };
    return { action, now: this.now(), origin, actorRole: 'authenticated', actorId: userId, userId, details };
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

/** @throws AppError 401 when the session is over, 403 when it did not show the factor that the account has */
function foundBy(outcome: Allowed<boolean>): boolean {
  if (!outcome) throw invalidCredentials();
  if (!outcome.strong) throw secondFactorRequired();
  return outcome.found;
}

function purposeOf({ id }: Project, factorId: string): string {
  return `totp:${id}:${factorId}`;
}
