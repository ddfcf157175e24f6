/** Counts and times every request, including refused and unknown requests, at the HTTP server itself. */
import { Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Server, ServerResponse } from 'node:http';
import { Histogram } from 'prom-client';
import { Metrics } from '../infra/metrics/metrics';
import type { ObservedRequest } from '../traffic/ended-request';
import { RequestObserver } from '../traffic/request-observer.service';
import { areaOf, methodOf } from './request-area';

/** The client disconnected before it had the answer (nginx's code for it). */
const CLIENT_CLOSED = 499;
/** Seconds. A REST read takes a millisecond, an upload minutes. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts of one area's requests of one method. */
interface Series {
  readonly labels: { readonly area: string; readonly method: string };
  /** Keyed by status. */
  readonly counts: Map<number, number>;
  readonly timer: Histogram.Internal<'area' | 'method'>;
}

@Injectable()
export class RequestMetrics implements OnApplicationBootstrap {
  private readonly durations: Histogram<'area' | 'method'>;
  /** Counted here and copied into the metrics when they are read: prom-client looks labels up at each increment. */
  private readonly series = new Map<string, Map<string, Series>>();
  private running = 0;

  constructor(
    metrics: Metrics,
    private readonly host: HttpAdapterHost<AbstractHttpAdapter<Server>>,
    private readonly observer: RequestObserver,
  ) {
    metrics.counts(
      'plinth_http_requests_total',
      'Requests answered, by area, method and status; 499: the client disconnected first',
      ['area', 'method', 'status'],
      () => this.counts(),
    );
    this.durations = new Histogram({
      name: 'plinth_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer',
      labelNames: ['area', 'method'],
      buckets: BUCKETS,
      registers: [metrics.registry],
    });
    metrics.gauge('plinth_http_requests_running', 'Requests that are being answered', () => this.running);
  }

  onApplicationBootstrap(): void {
    const server = this.host.httpAdapter.getHttpServer();
    const observe = (request: ObservedRequest, response: ServerResponse): void =>
      this.observe(request, response);
    server.on('request', observe);
    // Requests with an `Expect` header have their own events.
    server.on('checkContinue', observe);
    server.on('checkExpectation', observe);
  }

  private observe(request: ObservedRequest, response: ServerResponse): void {
    const since = performance.now();
    // Express changes the URL of the request later.
    const { url = '', method, socket } = request;
    const sentBefore = socket.bytesWritten;
    const { timer, counts } = this.seriesOf(areaOf(url), methodOf(method));
    this.running += 1;
    response.once('close', () => {
      this.running -= 1;
      const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED;
      const ms = performance.now() - since;
      timer.observe(ms / 1000);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      this.observer.observe(request, url, { status, ms, bytes: socket.bytesWritten - sentBefore });
    });
  }

  private seriesOf(area: string, method: string): Series {
    let ofArea = this.series.get(area);
    if (!ofArea) this.series.set(area, (ofArea = new Map<string, Series>()));
    let series = ofArea.get(method);
    if (!series) {
      const labels = { area, method };
      ofArea.set(method, (series = { labels, counts: new Map(), timer: this.durations.labels(labels) }));
    }
    return series;
  }

  private *counts(): Generator<[labels: Record<'area' | 'method' | 'status', string>, count: number]> {
    for (const ofArea of this.series.values())
      for (const { labels, counts } of ofArea.values())
        for (const [status, count] of counts) yield [{ ...labels, status: String(status) }, count];
  }
}
