/** Ends streams within a second when their sessions or keys end: one statement a second for each project that has any. */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { Request } from 'express';
import { bearerToken } from '../../access/bearer-token';
import type { Caller } from '../../access/caller';
import { SocketCredentials } from '../../access/socket-credentials.service';
import { AppError } from '../../common/errors/app-error';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { LiveSessionsRepository } from '../live-sessions.repository';

const CHECK_MS = 800;

interface Watched {
  readonly caller: Caller;
  readonly apikey: string;
  readonly bearer: string;
  /** The end of the token or of the named key, in milliseconds since the epoch. */
  readonly expires: number;
  /** The revision of the project in which the credentials were valid. */
  revision: string;
  readonly onEnded: (message: string) => void;
}

@Injectable()
export class StreamSessions implements OnApplicationShutdown {
  private readonly logger = new Logger(StreamSessions.name);
  private readonly watched = new Set<Watched>();
  private timer: NodeJS.Timeout | undefined;
  /** Projects that are being checked: a slow database delays its own project only. */
  private readonly busy = new Set<string>();

  constructor(
    private readonly sessions: LiveSessionsRepository,
    private readonly registry: ProjectRegistry,
    private readonly clock: Clock,
    private readonly credentials: SocketCredentials,
  ) {}

  /** @param request the request with the caller's credentials @returns ends the watch */
  watch(caller: Caller, request: Request, onEnded: (message: string) => void): () => void {
    const { exp } = caller.tokenClaims;
    const ends = [
      typeof exp === 'number' ? exp * 1_000 : null,
      caller.named?.expires_at,
      request.apiKey?.named?.expires_at,
    ];
    const one: Watched = {
      caller,
      apikey: request.get('apikey') ?? '',
      bearer: bearerToken(request.get('authorization') ?? '') ?? '',
      expires: Math.min(...ends.map((end) => end ?? Infinity)),
      revision: caller.project.revision,
      onEnded,
    };
    this.watched.add(one);
    this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
    return () => {
      this.watched.delete(one);
      if (this.watched.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private check(): void {
    const now = this.clock.now();
    const ofSessions = new Map<string, Watched[]>();
    for (const one of [...this.watched]) {
      const { project, sessionId } = one.caller;
      void this.checkCredentials(one);
      if (one.expires <= now) one.onEnded('The token has expired');
      else if (this.keysChanged(one.caller)) one.onEnded('The keys of the project were rotated');
      else if (sessionId !== null) ofSessions.set(project.id, [...(ofSessions.get(project.id) ?? []), one]);
    }
    for (const [id, all] of ofSessions) void this.checkSessions(id, all);
  }

  /** Named keys and trusted issuers are part of the project: each change of the project repeats the check. */
  private async checkCredentials(one: Watched): Promise<void> {
    const { caller, revision, onEnded } = one;
    const current = this.registry.peek(caller.project.id);
    if (!current || current.revision === revision) return;
    one.revision = current.revision;
    try {
      const key = await this.credentials.renewKey(one.apikey);
      const renewed = await this.credentials.callerOf(key, one.bearer);
      if (renewed.secondFactor !== caller.secondFactor) onEnded('The rule of second factors has changed');
    } catch (error) {
      if (error instanceof AppError && error.status < 500) onEnded('The credentials are no longer valid');
      else one.revision = revision;
    }
  }

  /** A rotation ends streams: the client's credentials are checked again when it connects. */
  private keysChanged({ project }: Caller): boolean {
    const current = this.registry.peek(project.id);
    return current !== null && current.secrets[0].kid !== project.secrets[0].kid;
  }

  private async checkSessions(projectId: string, all: readonly Watched[]): Promise<void> {
    const [first] = all;
    if (!first || this.busy.has(projectId)) return;
    this.busy.add(projectId);
    try {
      const ids = new Set(all.map(({ caller }) => caller.sessionId ?? ''));
      const valid = await this.sessions.findValid(first.caller.database, [...ids]);
      for (const one of all) if (!valid.has(one.caller.sessionId ?? '')) one.onEnded('The session has ended');
    } catch (error) {
      this.logger.warn(`sessions of streams of project ${projectId} were not checked: ${messageOf(error)}`);
    } finally {
      this.busy.delete(projectId);
    }
  }
}
