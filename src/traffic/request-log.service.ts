/**
 * Logs each request as one JSON object per line (REQUEST_LOG). Only the route is logged: names in a path may
 * be data or secrets.
 */
import { BeforeApplicationShutdown, Inject, Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import pino, { type DestinationStream } from 'pino';
import { SERVER_CONFIG, ServerConfig } from '../config/app-config';
import { EndedRequest, ObservedRequest, routeOf } from './ended-request';
import { RequestObserver } from './request-observer.service';

/** Number of bytes that are collected before they are written, and the maximum milliseconds for which they wait. */
const BUFFER = 4 * 1024;
const FLUSH_MS = 1_000;
/** Maximum bytes that wait for a slow reader of standard output; further lines are lost. */
const MAX_WAITING = 4 * 1024 * 1024;

@Injectable()
export class RequestLog implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private stop: () => Promise<void> = async () => undefined;

  constructor(
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
    private readonly observer: RequestObserver,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.requestLog) return;
    // Not synchronous: a slow reader of standard output must not hold up requests.
    const output = pino.destination({
      dest: 1,
      sync: false,
      minLength: BUFFER,
      maxLength: MAX_WAITING,
      periodicFlush: FLUSH_MS,
    });
    // On a full disk, lines are lost and requests continue.
    output.on('error', () => undefined);
    const log = requestLogger(output);
    const remove = this.observer.add(log);
    this.stop = async () => {
      remove();
      // Unless the stream is destroyed, flushSync() would repeat a failing write forever, even at the end of the process.
      const flushed = new Promise<void>((resolve) => output.flush(() => resolve()));
      await Promise.race([flushed, sleep(FLUSH_MS, undefined, { ref: false })]);
      output.destroy();
    };
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }
}

/** @param output one line is written for each request */
export function requestLogger(
  output: DestinationStream,
): (ended: EndedRequest, request: ObservedRequest) => void {
  const logger = pino({ base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, output);
  return (ended, request) => {
    const { project, method, role, status, ms, databaseMs, bytes } = ended;
    logger.info(
      {
        request_id: request.context?.id ?? null,
        method,
        route: routeOf(request),
        project: project?.slug ?? null,
        project_id: project?.id ?? null,
        role,
        status,
        ms: tenths(ms),
        ms_database: databaseMs === null ? null : tenths(databaseMs),
        bytes,
      },
      'request',
    );
  };
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
