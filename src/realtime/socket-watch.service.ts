/**
 * Once a second, ends sockets whose key, project or client no longer exists, and channels whose token has
 * expired or whose session was ended. It takes one query a second for each project with signed-in sockets.
 */
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { SocketCredentials } from '../access/socket-credentials.service';
import type { VerifiedApiKey } from '../access/strategies/api-key.strategy';
import { LiveSessionsRepository } from '../changes/live-sessions.repository';
import { messageOf } from '../common/errors/error-facts';
import { Clock } from '../common/time/clock';
import { ProjectRegistry } from '../projects/project-registry.service';
import { PROCESS_BUFFERED_BYTES, SOCKET_LIMITS } from './realtime-limits';
import { RealtimeGateway } from './realtime-gateway.service';
import { type Channel, CLOSE, type RealtimeSocket } from './realtime-socket';
import { isExpired, SocketMessages } from './socket-messages.service';

const TICK_MS = 1_000;

@Injectable()
export class SocketWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(SocketWatch.name);
  private timer: NodeJS.Timeout | undefined;
  /** Projects that are being checked: a slow database delays its own project only. */
  private readonly busy = new Set<string>();

  constructor(
    private readonly gateway: RealtimeGateway,
    private readonly credentials: SocketCredentials,
    private readonly messages: SocketMessages,
    private readonly sessions: LiveSessionsRepository,
    private readonly clock: Clock,
    private readonly registry: ProjectRegistry,
  ) {}

  onApplicationBootstrap(): void {
    this.registry.onChange((id) => void this.check(id));
    this.timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    for (const id of this.gateway.all().keys()) void this.check(id);
    this.closeBehind();
  }

  private async check(projectId: string): Promise<void> {
    const sockets = this.gateway.all().get(projectId);
    if (!sockets || this.busy.has(projectId)) return;
    this.busy.add(projectId);
    try {
      await this.checkKeys(sockets);
      const channels = [...sockets].flatMap((socket) => [...socket.channels.values()]);
      await this.checkTokens(channels);
      await this.checkSessions(channels);
    } catch (error) {
      this.logger.warn(`the sockets of project ${projectId} were not checked: ${messageOf(error)}`);
    } finally {
      this.busy.delete(projectId);
    }
  }

  private async checkKeys(sockets: Iterable<RealtimeSocket>): Promise<void> {
    const silentSince = performance.now() - SOCKET_LIMITS.silenceMs;
    const keys = new Map<string, VerifiedApiKey | null>();
    for (const socket of sockets) {
      const { apiKeyToken: token } = socket;
      let key = keys.get(token);
      if (key === undefined) keys.set(token, (key = await this.credentials.renewKey(token).catch(refused)));
      if (key === null) socket.close(CLOSE.policy, 'the apikey is no longer valid');
      else if (key.project.database.isPaused) socket.close(CLOSE.policy, 'the project is paused');
      else if (socket.lastMessageAt < silentSince) socket.close(CLOSE.goingAway, 'no heartbeat');
      else socket.apiKey = key;
    }
  }

  private async checkTokens(channels: readonly Channel[]): Promise<void> {
    for (const channel of channels) {
      const { socket, token, caller } = channel;
      if (isExpired(caller, this.clock)) this.messages.end(channel, `Token has expired`);
      else if (caller.project !== socket.apiKey.project) {
        const renewed = await this.credentials.callerOf(socket.apiKey, token).catch(refused);
        if (renewed) channel.caller = renewed;
        else this.messages.end(channel, 'InvalidJWTToken: The token is no longer valid');
      }
    }
  }

  private async checkSessions(channels: readonly Channel[]): Promise<void> {
    const ofSessions = channels.filter(({ caller, socket }) => caller.sessionId !== null && socket.isOpen);
    const [first] = ofSessions;
    if (!first) return;
    const ids = new Set(ofSessions.map(({ caller }) => caller.sessionId ?? ''));
    const valid = await this.sessions.findValid(first.caller.database, [...ids]);
    for (const channel of ofSessions) {
      const { sessionId } = channel.caller;
      // The token may have been renewed during the query.
      if (sessionId === null || !ids.has(sessionId) || valid.has(sessionId)) continue;
      this.messages.end(channel, 'Unauthorized: The session of the token has ended');
      if (channel.socket.channels.size === 0) channel.socket.close(CLOSE.policy, 'the session has ended');
    }
  }

  /** Closes the slowest clients while all clients together hold too much memory. */
  private closeBehind(): void {
    const behind = [...this.gateway.all().values()].flatMap((sockets) =>
      [...sockets].filter(({ bufferedBytes }) => bufferedBytes > 0),
    );
    let total = behind.reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0);
    if (total <= PROCESS_BUFFERED_BYTES) return;
    for (const socket of behind.sort((a, b) => b.bufferedBytes - a.bufferedBytes)) {
      if (total <= PROCESS_BUFFERED_BYTES) return;
      total -= socket.bufferedBytes;
      socket.close(CLOSE.policy, 'slow reader: too many messages wait for all clients');
    }
  }
}

/** Treats refused credentials as absent. An error of the database is not a refusal. */
function refused(error: unknown): null {
  if (error instanceof Error && 'status' in error && Number(error.status) < 500) return null;
  throw error;
}
