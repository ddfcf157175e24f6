/** Counts and times every request, refused and unknown ones included, at the HTTP server itself. */
import { Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Metrics } from '../infra/telemetry/metrics';
import { areaOf, methodOf } from './request-area';

/** The client went away before it had the answer (nginx's code for it). */
const CLIENT_CLOSED = '499';
/** Seconds. A REST read takes a millisecond, an upload minutes. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

@Injectable()
export class RequestMetrics implements OnApplicationBootstrap {
  private readonly requests: Counter<'area' | 'method' | 'status'>;
  private readonly durations: Histogram<'area' | 'method'>;
  private readonly running: Gauge;
  /** Label look-ups cost more than the counting itself. */
  private readonly counters = new Map<string, Counter.Internal>();
  private readonly timers = new Map<string, Histogram.Internal<'area' | 'method'>>();

  constructor(
    { registry }: Metrics,
    private readonly host: HttpAdapterHost,
  ) {
    const registers = [registry];
    this.requests = new Counter({
      name: 'plinth_http_requests_total',
      help: 'Requests answered, by area, method and status; 499: the client went away first',
      labelNames: ['area', 'method', 'status'],
      registers,
    });
    this.durations = new Histogram({
      name: 'plinth_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer',
      labelNames: ['area', 'method'],
      buckets: BUCKETS,
      registers,
    });
    this.running = new Gauge({
      name: 'plinth_http_requests_running',
      help: 'Requests that are being answered',
      registers,
    });
  }

  onApplicationBootstrap(): void {
    const server = this.host.httpAdapter.getHttpServer() as Server;
    const observe = (request: IncomingMessage, response: ServerResponse): void =>
      this.observe(request, response);
    server.on('request', observe);
    // `Expect: 100-continue` has an event of its own.
    server.on('checkContinue', observe);
  }

  private observe({ url = '', method }: IncomingMessage, response: ServerResponse): void {
    const since = performance.now();
    const labels = { area: areaOf(url), method: methodOf(method) };
    this.running.inc();
    response.once('close', () => {
      this.running.dec();
      const status = response.writableFinished ? String(response.statusCode) : CLIENT_CLOSED;
      this.timerOf(labels).observe((performance.now() - since) / 1000);
      this.counterOf({ ...labels, status }).inc();
    });
  }

  private counterOf(labels: { area: string; method: string; status: string }): Counter.Internal {
    const key = `${labels.area} ${labels.method} ${labels.status}`;
    let counter = this.counters.get(key);
    if (!counter) this.counters.set(key, (counter = this.requests.labels(labels)));
    return counter;
  }

  private timerOf(labels: { area: string; method: string }): Histogram.Internal<'area' | 'method'> {
    const key = `${labels.area} ${labels.method}`;
    let timer = this.timers.get(key);
    if (!timer) this.timers.set(key, (timer = this.durations.labels(labels)));
    return timer;
  }
}
