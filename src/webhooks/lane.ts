/**
 * Deliveries to one receiver: in order per key, several keys concurrently while the receiver is fast. If the
 * receiver fails, the lane rests, and then tries a single delivery.
 */
import type { Slots } from '../admission/slots';
import type { History } from '../install/history/history.service';
import type { Project } from '../projects/project';
import type { DeliveryState, WaitingDelivery } from './delivery';
import type { DeliveryMetrics } from './delivery-metrics.service';
import type { DeliveryRepository } from './delivery.repository';
import type { WebhookSender } from './webhook-sender.service';

/** Maximum number of concurrent requests of a lane. */
const MAX_CONCURRENT = 8;
/** Maximum milliseconds of an attempt for which a receiver counts as fast. */
const QUICK_MS = 1_000;
/** Milliseconds of the first rest of a failing lane, which doubles each time, and of the longest rest. */
const REST_MS = { first: 1_000, max: 60_000 };
/** Consecutive failures of any kind after which a lane rests. */
const MANY_FAILURES = 10;
/** Maximum milliseconds between two attempts; the delay triples each time. */
const MAX_DELAY_MS = 12 * 3_600_000;
/** Milliseconds after the first attempt at which Plinth gives up a delivery. */
const GIVEN_UP_MS = 3 * 86_400_000;
const KNOWN_IDS = 1_000;

export interface DeliveryTools {
  readonly deliveries: DeliveryRepository;
  readonly sender: WebhookSender;
  readonly metrics: DeliveryMetrics;
  readonly history: History;
  /** Milliseconds before the second attempt. */
  readonly retryDelayMs: number;
  /** Slots for requests of this process, which projects use in turn. */
  readonly slots: Slots;
}

export class Lane {
  private concurrent = 1;
  private failures = 0;
  private isFailing: boolean | null = null;
  private restMs = 0;
  private isQuick = true;
  /** Recent deliveries, which an owner's trigger may put back into the queue. */
  private readonly delivered = new Set<string>();

  constructor(
    readonly id: string,
    readonly isWebhook: boolean,
    private readonly project: Project,
    private readonly tools: DeliveryTools,
    private readonly mayGoOn: () => boolean,
  ) {}

  /**
   * Sends the deliveries that are due.
   * @returns milliseconds to rest before the next call; 0 if nothing is due
   * @throws Error if the queue cannot be read or written
   */
  async work(): Promise<number> {
    this.restMs = 0;
    while (this.mayGoOn()) {
      const batch = await this.tools.deliveries.take(this.project, this.id);
      const [first] = batch;
      if (!first) return 0;
      if (!first.isEnabled) return REST_MS.max;
      if (batch.some(({ id }) => this.delivered.has(id)))
        throw new Error('what was delivered waits again: a trigger on hooks.deliveries may be the cause');
      this.isFailing ??= first.isFailing;
      await this.sendAll(batch);
      if (this.restMs > 0) return this.restMs;
    }
    return 0;
  }

  private async sendAll(batch: readonly WaitingDelivery[]): Promise<void> {
    const groups = new Map<string, WaitingDelivery[]>();
    for (const delivery of batch) groups.set(delivery.key, [...(groups.get(delivery.key) ?? []), delivery]);
    const waiting = groups.values();
    this.isQuick = true;
    const worker = async (): Promise<void> => {
      for (const group of waiting) await this.sendInOrder(group);
    };
    const ended = await Promise.allSettled(Array.from({ length: this.concurrent }, worker));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
    this.concurrent = this.isQuick && this.failures === 0 ? Math.min(MAX_CONCURRENT, 2 * this.concurrent) : 1;
  }

  private async sendInOrder(group: readonly WaitingDelivery[]): Promise<void> {
    for (const delivery of group) {
      if (this.restMs > 0) return;
      const wasAccepted = await this.tools.slots.use(
        () => this.attempt(delivery),
        () => new Error('too many deliveries wait'),
        this.project.id,
      );
      if (!wasAccepted) return;
    }
  }

  private async attempt(delivery: WaitingDelivery): Promise<boolean> {
    if (this.restMs > 0 || !this.mayGoOn()) return false;
    const { deliveries, sender, metrics, history, retryDelayMs } = this.tools;
    const secrets = sender.secretsOf(this.project, delivery);
    if (!secrets) return this.fail(`the webhook ${delivery.webhookId} was deleted, or needs a new secret`);
    const attempt = await sender.send(delivery, secrets);
    const isAccepted = attempt.error === null;
    const delayMs = delayAfter(delivery.attempts, retryDelayMs);
    const isLast = (delivery.age ?? 0) + delayMs > GIVEN_UP_MS;
    const state: DeliveryState = isAccepted ? 'delivered' : isLast ? 'failed' : 'waiting';
    metrics.count(isAccepted ? 'delivered' : isLast ? 'given_up' : 'retried');
    history.note(this.project.id, {
      source: 'webhook',
      path: delivery.webhookId ?? this.id,
      status: attempt.status,
      ms: attempt.durationMs,
      error: attempt.error,
      request_id: delivery.id,
    });
    this.isQuick &&= attempt.durationMs <= QUICK_MS;
    this.restMs = Math.max(this.restMs, this.restAfter(attempt.status, isAccepted));
    if (!(await deliveries.record(this.project, delivery.id, state, delayMs, attempt)))
      return this.fail('the outcome of a delivery could not be recorded');
    if (isAccepted) this.remember(delivery.id);
    if (this.isFailing === isAccepted) {
      this.isFailing = !isAccepted;
      await deliveries.setFailing(this.project, delivery.webhookId, this.isFailing);
    }
    return isAccepted || isLast;
  }

  /** Also ends the other requests of the lane. */
  private fail(reason: string): never {
    this.restMs = REST_MS.max;
    throw new Error(reason);
  }

  private restAfter(status: number | null, isAccepted: boolean): number {
    this.failures = isAccepted ? 0 : this.failures + 1;
    if (isAccepted) return 0;
    // With any other status, the receiver may reject this delivery only.
    const isDown = status === null || status >= 500 || status === 429;
    const doubled = REST_MS.first * 2 ** Math.min(this.failures - 1, 10);
    return isDown || this.failures >= MANY_FAILURES ? Math.min(REST_MS.max, doubled) : 0;
  }

  private remember(id: string): void {
    this.delivered.add(id);
    const [oldest] = this.delivered;
    if (this.delivered.size > KNOWN_IDS && oldest !== undefined) this.delivered.delete(oldest);
  }
}

/** Random, so that deliveries that failed at the same time are not sent again at the same time. */
function delayAfter(attempts: number, firstMs: number): number {
  const delay = Math.min(MAX_DELAY_MS, firstMs * 3 ** Math.min(attempts, 20));
  return Math.round(delay * (0.9 + Math.random() / 5));
}
