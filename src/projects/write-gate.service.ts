/**
 * Refuses writes to projects for a moment, in every process: a move to another server announces it, so that clients get 503
 * at once instead of waiting for a lock. It is a courtesy only: locks in the database are what keeps writers out. A
 * notice lasts for seconds and is renewed, so nothing stays closed when the process that moves is gone.
 */
import { Injectable } from '@nestjs/common';
import { MessageBus } from '../install/message-bus.service';
import { Project } from './project';
import { ProjectRegistry } from './project-registry.service';
import { projectMoving } from './projects.errors';

const PREFIX = 'writes:';
/** Milliseconds that a notice lasts. */
const NOTICE_MS = 3_000;
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

@Injectable()
export class WriteGate {
  /** Until when writes are refused, in milliseconds of the monotonic clock, by project id. */
  private readonly closed = new Map<string, number>();

  constructor(
    private readonly bus: MessageBus,
    registry: ProjectRegistry,
  ) {
    bus.onMessage(PREFIX, (id) => this.closed.set(id, performance.now() + NOTICE_MS));
    // Any change of the project's row opens it; the switch to the new server is one.
    registry.onChange((id) => this.closed.delete(id));
  }

  /** @throws AppError 503 for a request that may write to a project that is being moved */
  assertMay(method: string, project: Project): void {
    if (this.closed.size === 0 || READS.has(method)) return;
    const until = this.closed.get(project.id);
    if (until === undefined) return;
    if (until > performance.now()) throw projectMoving();
    this.closed.delete(project.id);
  }

  /** Refuses writes to the project for three seconds, in every process that hears of it. */
  async close(id: string): Promise<void> {
    await this.bus.broadcast(PREFIX, id);
  }
}
