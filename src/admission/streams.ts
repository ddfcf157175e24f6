/**
 * Responses that stream to clients while they hold a connection, which a slow client can block for others. Only
 * some of a project's connections may be held in this way, and fewer by one client. When others need a
 * connection, the response that made no progress for the longest time is ended.
 */
import { DatabaseFault } from '../common/errors/database-fault';
import type { SharedConnection } from './shared-pool';

export interface StreamLimits {
  /** Maximum number of streams of all projects together. */
  readonly total: number;
  readonly perProject: number;
  /** Maximum number of streams of one client in one project. */
  readonly perClient: number;
  /** Milliseconds without progress after which a response may be ended in favour of others. */
  readonly stalledMs: number;
}

interface Stream {
  readonly connection: SharedConnection;
  readonly project: string;
  readonly client: string;
  /** Aborts the response; the connection is released a moment later. */
  readonly end: () => void;
}

export class Streams {
  private readonly open = new Map<SharedConnection, Stream>();
  /** Streams that were ended and have not released their connection yet. */
  private readonly ending = new Set<SharedConnection>();

  constructor(private readonly limits: StreamLimits) {}

  get size(): number {
    return this.open.size;
  }

  /**
   * Registers a response until delete(). Ends a stalled response if there are too many.
   * @throws DatabaseFault too_many_streams when there are too many and all of them make progress
   */
  begin(stream: Stream): void {
    const { total, perProject, perClient } = this.limits;
    const isOfProject = (other: Stream): boolean => other.project === stream.project;
    const isOfClient = (other: Stream): boolean => isOfProject(other) && other.client === stream.client;
    this.makeRoom(perClient, isOfClient);
    this.makeRoom(perProject, isOfProject);
    this.makeRoom(total, () => true);
    this.open.set(stream.connection, stream);
  }

  delete(connection: SharedConnection): void {
    this.open.delete(connection);
    this.ending.delete(connection);
  }

  /**
   * Ends stalled responses for requests that wait for a connection, longest stalled first.
   * @param project whose connections are needed; null: any project
   */
  endFor(waiting: number, project: string | null): void {
    const isMeant = (key: string): boolean => project === null || key === project;
    let missing = waiting;
    for (const { database } of this.ending) if (isMeant(database.key)) missing -= 1;
    while (missing > 0 && this.endSlowest((stream) => isMeant(stream.project))) missing -= 1;
  }

  private makeRoom(limit: number, isCounted: (stream: Stream) => boolean): void {
    let count = 0;
    for (const stream of this.open.values()) if (isCounted(stream)) count += 1;
    if (count >= limit && !this.endSlowest(isCounted)) throw tooManyStreams();
  }

  private endSlowest(isMeant: (stream: Stream) => boolean): boolean {
    let slowest: Stream | undefined;
    let since = performance.now() - this.limits.stalledMs;
    for (const stream of this.open.values()) {
      const { pausedSince } = stream.connection;
      if (pausedSince === null || pausedSince > since || !isMeant(stream)) continue;
      slowest = stream;
      since = pausedSince;
    }
    if (!slowest) return false;
    this.open.delete(slowest.connection);
    this.ending.add(slowest.connection);
    slowest.end();
    return true;
  }
}

function tooManyStreams(): DatabaseFault {
  return new DatabaseFault(
    'too_many_streams',
    'The service is busy: too many large answers are being read at once',
  );
}
