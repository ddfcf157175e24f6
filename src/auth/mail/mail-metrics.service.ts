/** What operators see of accounts and mail in GET /metrics. */
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { OutboxListRepository } from './outbox-list.repository';
import { Metrics } from '../../infra/telemetry/metrics';

/** `retried` mails will be tried again, `given_up` ones wait for an administrator. */
export type MailOutcome = 'sent' | 'retried' | 'given_up';

@Injectable()
export class AuthMetrics {
  private readonly mails: Counter<'outcome'>;

  constructor({ registry }: Metrics, passwords: PasswordHasher, outboxes: OutboxListRepository) {
    this.mails = new Counter({
      name: 'plinth_mails_total',
      help: 'Attempts to send a mail, by outcome',
      labelNames: ['outcome'],
      registers: [registry],
    });
    new Gauge({
      name: 'plinth_failed_mails',
      help: 'Mails of all projects that were given up and wait for an administrator, as counted within the last minute',
      registers: [registry],
      async collect() {
        // A platform database that is away must not take all other metrics with it.
        this.set(await outboxes.countFailed().catch(() => NaN));
      },
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
