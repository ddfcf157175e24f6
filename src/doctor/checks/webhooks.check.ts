/** Deliveries that wait for the receivers of webhooks, in all projects. */
import { Injectable } from '@nestjs/common';
import { WebhookProjectsRepository } from '../../webhooks/webhook-projects.repository';
import { DoctorCheck, Finding } from '../finding';

/** Milliseconds: a receiver that was restarted has its deliveries by then. */
const LATE_MS = 3_600_000;

@Injectable()
export class WebhooksCheck extends DoctorCheck {
  readonly name = 'webhooks';

  constructor(private readonly projects: WebhookProjectsRepository) {
    super();
  }

  async find(): Promise<Finding[]> {
    const { waiting, failed, oldestAt } = await this.projects.total();
    const counts = `${waiting} deliveries of webhooks wait, ${failed} were given up`;
    const full = await this.projects.full();
    if (full.length > 0)
      return [
        this.warning(
          `${counts}; the queue of ${full.join(', ')} was full within a day, and its oldest deliveries were skipped`,
          'Disable webhooks whose receivers no longer exist; webhook_queue_rows and webhook_queue_bytes of the project raise the bound.',
        ),
      ];
    if (!oldestAt || Date.now() - oldestAt.getTime() < LATE_MS) return [this.ok(counts)];
    return [
      this.warning(
        `${counts}; the oldest waits since ${oldestAt.toISOString()}`,
        'GET /admin/v1/projects/<id>/webhooks shows which receivers fail, and deliveries of a webhook why.',
      ),
    ];
  }
}
