/** Second factors of a signed-in user: enrolled, verified, listed and removed. Administrators help users who have lost their device. */
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { invalidCredentials } from '../../access/access.errors';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../../infra/crypto/secret-box';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { Guess, GuessThrottle } from '../../identity/guess-throttle.service';
import { SessionOwner } from '../accounts/account-statements';
import { AuditAction, AuditEntry, byUser, byServiceRole } from '../audit/audit-entry';
import { AuditRepository } from '../audit/audit.repository';
import { RequestOrigin, Sender } from '../../identity/request-origin';
import { factorNotFound, secondFactorRequired, tooManyFactors, wrongCode } from '../auth.errors';
import { Hooks } from '../hooks/hooks.service';
import { SessionIssuer, SignedIn } from '../sessions/session-issuer.service';
import { Factor, FactorKind, SealedFactor } from './factor';
import { FactorOutcome, FactorRepository, MAX_FACTORS, NewFactor } from './factor.repository';
import { FactorProof, SessionRaiseRepository } from './session-raise.repository';
import { newTotpKey, stepOfCode } from '../../identity/factors/totp';

const DEFAULT_NAME = 'Authenticator';

interface EnrolledFactor {
  readonly id: string;
  readonly name: string;
  /** Not shown again: only the database has it afterwards, encrypted. */
  readonly secret: string;
  readonly uri: string;
}

/** A code for a factor of the user. */
interface FactorCode {
  readonly id: string;
  readonly code: string;
}

export interface ProofCheck {
  /** Null for a wrong proof. */
  readonly check: (factor: SealedFactor) => Promise<FactorProof | null>;
  readonly refused: () => Error;
}

@Injectable()
export class FactorService {
  /** Opens secrets of factors that earlier versions enrolled. */
  private readonly formerBox: SecretBox;

  constructor(
    private readonly factors: FactorRepository,
    private readonly sessions: SessionRaiseRepository,
    private readonly issuer: SessionIssuer,
    private readonly hooks: Hooks,
    private readonly throttle: GuessThrottle,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
    @Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig,
  ) {
    this.formerBox = new SecretBox(masterKey, otherMasterKey);
  }

  /**
   * Begins the enrolment of an app; verify() completes it.
   * @throws AppError 403 if the account has a verified factor and the session did not verify one, 400 if it has MAX_FACTORS
   */
  async enrol(
    from: Sender,
    owner: SessionOwner,
    { email }: Pick<Account, 'email'>,
    givenName: string | undefined,
  ): Promise<EnrolledFactor> {
    const id = randomUUID();
    const name = givenName?.trim() || DEFAULT_NAME;
    const { secret, uri } = newTotpKey(from.project.name, email);
    const sealedSecret = new SecretBox(from.project.dataSecret).seal(secret, purposeOf(id));
    await this.insert(from, owner, { id, kind: 'totp', name, sealedSecret });
    return { id, name, secret, uri };
  }

  /** Begins the enrolment of a factor without a secret. @throws AppError as enrol() */
  async insert({ project, origin }: Sender, owner: SessionOwner, factor: NewFactor): Promise<void> {
    const entry = this.entry('factor_enrolled', origin, owner, factor.id);
    const outcome = await this.factors.insert(project, owner, factor, entry);
    if (!isFound(outcome)) throw tooManyFactors(MAX_FACTORS);
  }

  /** @throws AppError 401 if the session is over */
  async list(project: Project, owner: SessionOwner): Promise<Factor[]> {
    const factors = await this.factors.list(project, owner, this.clock.date());
    if (!factors) throw invalidCredentials();
    return factors;
  }

  /** Raises the session to two factors with the code of an app. @throws AppError 401 for a wrong or spent code, 404, 429 */
  verify(from: Sender, owner: SessionOwner, { id, code }: FactorCode): Promise<SignedIn> {
    return this.prove(from, owner, id, {
      refused: wrongCode,
      check: (factor) => Promise.resolve(this.proofOfCode(from.project, factor, { id, code })),
    });
  }

  /**
   * Raises the session to two factors with a proof, and issues new tokens. The first proof of a factor also completes its
   * enrolment and ends the other sessions that the password alone began.
   * @throws AppError 401 for a wrong or spent proof, 404, 429
   */
  async prove(
    { project, origin }: Sender,
    owner: SessionOwner,
    id: string,
    { check, refused }: ProofCheck,
  ): Promise<SignedIn> {
    const factor = await this.find(project, owner, id);
    const guess: Guess = { project, account: `factors:${owner.userId}`, origin };
    const entry = this.entry(factor.verified ? 'factor_used' : 'factor_verified', origin, owner, id);
    const raised = await this.throttle.attempt(guess, async () => {
      const proof = await check(factor);
      await this.reportAttempt(project, owner, { id, kind: factor.kind, valid: proof !== null });
      return proof && this.sessions.raise(project, owner, { id, ...proof }, entry);
    });
    if (!raised) {
      await this.audit.write(project, { ...entry, action: 'factor_failed' });
      throw refused();
    }
    return this.issuer.issue(project, raised);
  }

  /** @throws AppError 403 if the account has a verified factor and the session did not verify one, 404 */
  async remove({ project, origin }: Sender, owner: SessionOwner, id: string): Promise<void> {
    if (!UUID.test(id)) throw factorNotFound();
    const entry = this.entry('factor_removed', origin, owner, id);
    if (!isFound(await this.factors.remove(project, owner, id, entry))) throw factorNotFound();
  }

  /** @throws AppError 404 */
  async find(project: Project, owner: SessionOwner, id: string): Promise<SealedFactor> {
    const factor = UUID.test(id) ? await this.factors.find(project, owner, id, this.clock.date()) : null;
    if (!factor) throw factorNotFound();
    return factor;
  }

  /** For administrators. Empty if there is no such user. */
  async listOf(project: Project, userId: string): Promise<Factor[]> {
    return UUID.test(userId) ? this.factors.listOf(project, userId) : [];
  }

  /** For administrators. @throws AppError 404 */
  async removeAsAdmin({ project, origin }: Sender, userId: string, id: string): Promise<void> {
    if (!UUID.test(userId) || !UUID.test(id)) throw factorNotFound();
    const context = { now: this.clock.date(), origin, details: { factor_id: id } };
    const entry = byServiceRole('factor_removed', userId, context);
    if (!(await this.factors.removeOf(project, userId, id, entry))) throw factorNotFound();
  }

  /** A wrong code is refused, regardless of the function's answer. */
  private async reportAttempt(
    project: Project,
    { userId }: SessionOwner,
    { id, kind, valid }: { readonly id: string; readonly kind: FactorKind; readonly valid: boolean },
  ): Promise<void> {
    const input = { user_id: userId, factor_id: id, factor_type: kind, valid };
    await this.hooks.runHook(project, 'mfa_verification_attempt_hook', input).catch((error: unknown) => {
      if (valid) throw error;
    });
  }

  /** Null for a wrong code, and for a factor that is not an app. */
  proofOfCode(
    project: Project,
    { sealedSecret }: SealedFactor,
    { id, code }: FactorCode,
  ): FactorProof | null {
    const secret = sealedSecret && this.openSecret(project, sealedSecret, id.toLowerCase());
    const step = secret && stepOfCode(secret, code, this.clock.now());
    return step ? { step, method: 'totp' } : null;
  }

  private openSecret(project: Project, sealed: Buffer, factorId: string): string {
    try {
      return new SecretBox(project.dataSecret).open(sealed, purposeOf(factorId));
    } catch {
      return this.formerBox.open(sealed, formerPurposeOf(project, factorId));
    }
  }

  private entry(
    action: AuditAction,
    origin: RequestOrigin,
    { userId }: SessionOwner,
    id: string,
  ): AuditEntry {
    return byUser(action, userId, { now: this.clock.date(), origin, details: { factor_id: id } });
  }
}

/** @throws AppError 401 if the session is over, 403 if it did not verify the factor that the account has */
function isFound(outcome: FactorOutcome): boolean {
  if (!outcome) throw invalidCredentials();
  if (!outcome.strong) throw secondFactorRequired();
  return outcome.found;
}

/** Without the project, so that factors work in a copy of it, which has another id. */
function purposeOf(factorId: string): string {
  return `totp:${factorId}`;
}

function formerPurposeOf({ id }: Project, factorId: string): string {
  return `totp:${id}:${factorId}`;
}
