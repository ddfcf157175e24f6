/** Metrics of mails in GET /metrics. */
import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '../../infra/metrics/metrics';
import { OutboxListRepository } from './outbox-list.repository';

/** `retried` mails will be tried again; `given_up` mails wait for an administrator. */
type MailOutcome = 'sent' | 'retried' | 'given_up';

@Injectable()
export class MailMetrics {
  private readonly mails: Counter<'outcome'>;

  constructor(metrics: Metrics, outboxes: OutboxListRepository) {
    this.mails = metrics.counter('plinth_mails_total', 'Attempts to send a mail, by outcome', 'outcome');
    metrics.gauge(
      'plinth_failed_mails',
      'Mails of all projects that failed permanently and wait for an administrator, as counted within the last minute',
      // If the platform database is down, the other metrics must still be served.
      () => outboxes.countFailed().catch(() => NaN),
      'max',
    );
  }

  count(outcome: MailOutcome): void {
    this.mails.inc({ outcome });
  }
}
