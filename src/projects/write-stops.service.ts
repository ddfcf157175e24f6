/**
 * The stops of writes that moves announce to every process, so that clients get 503 immediately instead of
 * waiting for a lock. Only locks in the database keep writers out. An announcement lasts for seconds and is
 * renewed, so it ends with the process that moves.
 */
import { Injectable } from '@nestjs/common';
import { MessageBus } from '../install/message-bus.service';
import { Project } from './project';
import { ProjectRegistry } from './project-registry.service';
import { projectMoving } from './projects.errors';

const PREFIX = 'writes:';
/** Milliseconds for which an announcement is valid. */
const ANNOUNCED_MS = 3_000;
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

@Injectable()
export class WriteStops {
  /** The times until which writes are refused, in milliseconds of the monotonic clock, by project id. */
  private readonly stopped = new Map<string, number>();

  constructor(
    private readonly bus: MessageBus,
    registry: ProjectRegistry,
  ) {
    bus.onMessage(PREFIX, (id) => this.stopped.set(id, performance.now() + ANNOUNCED_MS));
    // Any change of the project's row ends it, including the switch to the new server.
    registry.onChange((id) => this.stopped.delete(id));
  }

  /** @throws AppError 503 for a request that may write to a project that is being moved */
  assertMayWrite(method: string, project: Project): void {
    if (this.stopped.size === 0 || READS.has(method)) return;
    const until = this.stopped.get(project.id);
    if (until === undefined) return;
    if (until > performance.now()) throw projectMoving();
    this.stopped.delete(project.id);
  }

  /** Refuses writes to the project for three seconds, in every process that receives the message. */
  async announce(id: string): Promise<void> {
    await this.bus.broadcast(PREFIX, id);
  }
}
