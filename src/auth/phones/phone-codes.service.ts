/** Codes that the hook `send_sms_hook` of a project sends to phones. */
import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { rateLimited } from '../../access/access.errors';
import { Clock } from '../../common/time/clock';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import type { Sender } from '../../identity/request-origin';
import { RateCounter } from '../../infra/coordination/rate-counter';
import type { Project } from '../../projects/project';
import { byAnonymous } from '../audit/audit-entry';
import { phoneDisabled } from '../auth.errors';
import { Hooks } from '../hooks/hooks.service';
import { hashCode } from '../mail/mail-flow';
import { type PhoneCode, PhoneCodeRepository, type SpentPhoneCode } from './phone-code.repository';

/** Milliseconds. */
const LIFETIME_MS = 10 * 60_000;
const DIGITS = 6;
const HOUR_MS = 3_600_000;

/** @throws AppError 400 where no hook sends messages */
export function assertSendsMessages({ settings }: Project): void {
  if (settings.send_sms_hook === null) throw phoneDisabled();
}

type UnsentCode = Omit<PhoneCode, 'codeHash' | 'expiresAt'>;

@Injectable()
export class PhoneCodes {
  constructor(
    private readonly codes: PhoneCodeRepository,
    private readonly hooks: Hooks,
    private readonly throttle: GuessThrottle,
    private readonly rates: RateCounter,
    private readonly clock: Clock,
  ) {}

  /**
   * @param keepsAccount true: keeps the account of an earlier code @throws AppError 429 for too many messages, and as
   * Hooks.runHook()
   */
  async send(from: Sender, code: UnsentCode, { keepsAccount = false } = {}): Promise<void> {
    await this.count(from, code.phone);
    await this.sendCounted(from.project, code, { keepsAccount });
  }

  /** Counts a message before it is known whether there is an account to which it goes. @throws AppError 400, 429 */
  async count({ project, origin: { ip } }: Sender, phone: string): Promise<void> {
    assertSendsMessages(project);
    const most = project.settings.sms_per_hour;
    await this.assertBelow(`sms:${project.id}:${ip}`, Math.ceil(most / 4));
    await this.throttle.assertMayMail(project, `phone:${phone}`);
    // Limits the cost of toll fraud, in which an attacker is paid for messages to many phones.
    await this.assertBelow(`sms:${project.id}`, most);
  }

  /** Takes a counted message back from the project. Its phone and client stay counted, since they show in later answers. */
  async notSent({ id }: Project): Promise<void> {
    await this.rates.undo(`sms:${id}`);
  }

  /** @throws AppError as Hooks.runHook() */
  async sendCounted(project: Project, code: UnsentCode, { keepsAccount = false } = {}): Promise<void> {
    const { id, phone, userId } = code;
    const otp = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
    const now = this.clock.now();
    const expiresAt = new Date(now + LIFETIME_MS);
    const saved = { ...code, codeHash: hashCode(project, id, otp), expiresAt };
    await this.codes.save(project, saved, { now: new Date(now), keepsAccount });
    const input = { user: { id: userId, phone: `+${phone}` }, sms: { otp, phone: `+${phone}` } };
    await this.hooks.runHook(project, 'send_sms_hook', input);
  }

  /** Counts a message. @throws AppError 429 */
  private async assertBelow(key: string, most: number): Promise<void> {
    const { allowed, resetAt } = await this.rates.hit(key, most, HOUR_MS);
    if (!allowed) throw rateLimited((resetAt - this.clock.now()) / 1000);
  }

  /** @returns null for a wrong or spent code @throws AppError 429 */
  check({ project, origin }: Sender, id: string, code: string): Promise<SpentPhoneCode | null> {
    const now = this.clock.date();
    const failure = byAnonymous('sign_in_failed', null, { now, origin });
    return this.throttle.attempt({ project, account: `code:${id}`, origin }, () =>
      this.codes.spend(project, id, hashCode(project, id, code), failure),
    );
  }

  /** For a caller that counts and records the guesses. */
  spend(project: Project, id: string, code: string): Promise<SpentPhoneCode | null> {
    return this.codes.spend(project, id, hashCode(project, id, code), { now: this.clock.date() });
  }
}
