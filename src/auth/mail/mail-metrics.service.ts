/** Metrics of mails in GET /metrics. */
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../../infra/metrics/metrics';
import { OutboxListRepository } from './outbox-list.repository';

/** `retried` mails will be tried again; `given_up` mails wait for an administrator. */
type MailOutcome = 'sent' | 'retried' | 'given_up';

@Injectable()
export class MailMetrics {
  private readonly mails: Counter<'outcome'>;

  constructor({ registry }: Metrics, outboxes: OutboxListRepository) {
    this.mails = new Counter({
      name: 'plinth_mails_total',
      help: 'Attempts to send a mail, by outcome',
      labelNames: ['outcome'],
      registers: [registry],
    });
    new Gauge({
      name: 'plinth_failed_mails',
      aggregator: 'max',
      help: 'Mails of all projects that failed permanently and wait for an administrator, as counted within the last minute',
      registers: [registry],
      async collect() {
        // If the platform database is down, the other metrics must still be served.
        this.set(await outboxes.countFailed().catch(() => NaN));
      },
    });
  }

  count(outcome: MailOutcome): void {
    this.mails.inc({ outcome });
  }
}
