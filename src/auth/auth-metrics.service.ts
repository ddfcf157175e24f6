/** What operators see of accounts and mail in GET /metrics. */
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { PasswordHasher } from '../infra/crypto/password-hasher';
import { Metrics } from '../infra/telemetry/metrics';

/** `retried` mails will be tried again, `given_up` ones wait for an administrator. */
export type MailOutcome = 'sent' | 'retried' | 'given_up';

@Injectable()
export class AuthMetrics {
  private readonly mails: Counter<'outcome'>;

  constructor({ registry }: Metrics, passwords: PasswordHasher) {
    this.mails = new Counter({
      name: 'plinth_mails_total',
      help: 'Attempts to send a mail, by outcome',
      labelNames: ['outcome'],
      registers: [registry],
    });
    new Gauge({
      name: 'plinth_passwords_waiting',
      help: 'Passwords that wait for a thread to be hashed or compared',
      registers: [registry],
      collect() {
        this.set(passwords.waiting);
      },
    });
  }

  mail(outcome: MailOutcome): void {
    this.mails.inc({ outcome });
  }
}
