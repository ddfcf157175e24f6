/** Metrics of webhooks in GET /metrics. */
import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '../infra/metrics/metrics';
import type { QueueState } from './delivery.repository';
import { WebhookProjectsRepository } from './webhook-projects.repository';

type DeliveryOutcome = 'delivered' | 'retried' | 'given_up' | 'skipped';

@Injectable()
export class DeliveryMetrics {
  private readonly attempts: Counter<'outcome'>;

  constructor(metrics: Metrics, projects: WebhookProjectsRepository) {
    this.attempts = metrics.counter(
      'plinth_webhook_attempts_total',
      'Attempts to deliver to a webhook, by outcome, and deliveries that were skipped because the queue was full',
      'outcome',
    );
    const gauge = (name: string, help: string, read: (queue: QueueState) => number): void =>
      metrics.gauge(
        name,
        `${help}, of all projects, as counted within the last minute`,
        // If the platform database is down, the other metrics must still be returned.
        () => projects.total().then(read, () => NaN),
        'max',
      );
    gauge('plinth_webhook_queue', 'Deliveries of webhooks that wait', ({ waiting }) => waiting);
    gauge('plinth_webhook_failed', 'Deliveries of webhooks that were given up', ({ failed }) => failed);
    gauge('plinth_webhook_oldest_seconds', 'Age of the oldest delivery that waits', ({ oldestAt }) =>
      oldestAt ? Math.max(0, (Date.now() - oldestAt.getTime()) / 1000) : 0,
    );
  }

  count(outcome: DeliveryOutcome, number = 1): void {
    this.attempts.inc({ outcome }, number);
  }
}
