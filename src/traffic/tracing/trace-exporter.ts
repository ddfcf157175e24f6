/**
 * Sends a span for each request to a collector, with OpenTelemetry's SDK. Loaded only with
 * OTEL_EXPORTER_OTLP_ENDPOINT. A span is created when its request has ended, so the SDK does not delay requests.
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { PRODUCT } from '../../config/product';
import { EndedRequest, ObservedRequest, routeOf } from '../ended-request';

/** Maximum milliseconds of a request to the collector, even at the end of the process. */
const TIMEOUT_MS = 3_000;
/** The header of W3C Trace Context. */
const PARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export class TraceExporter {
  private readonly provider: BasicTracerProvider;

  /** @param endpoint base address of the collector; `/v1/traces` is added */
  constructor(endpoint: string) {
    const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
    this.provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'plinth', 'service.version': PRODUCT.version }),
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url, timeoutMillis: TIMEOUT_MS }))],
    });
  }

  export(ended: EndedRequest, request: ObservedRequest): void {
    const { project, method, role, status, ms, databaseMs, bytes, beganAt } = ended;
    const route = routeOf(request);
    const span = this.provider.getTracer('plinth').startSpan(
      route === null ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        startTime: beganAt,
        attributes: {
          'http.request.method': method,
          'http.response.status_code': status,
          'http.response.body.size': bytes,
          ...(route === null ? {} : { 'http.route': route }),
          ...(project === null ? {} : { 'plinth.project': project.slug, 'plinth.project_id': project.id }),
          ...(role === null ? {} : { 'plinth.role': role }),
          ...(databaseMs === null ? {} : { 'plinth.database_ms': databaseMs }),
          'plinth.request_id': request.context?.id ?? '',
        },
      },
      parentOf(request),
    );
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(beganAt + ms);
  }

  /** Sends the waiting spans. */
  async stop(): Promise<void> {
    await this.provider.shutdown();
  }
}

/** The span of the caller, from its `traceparent` header. */
function parentOf({ headers }: ObservedRequest): Context {
  const header = headers.traceparent;
  const [, traceId, spanId, flags] = (typeof header === 'string' ? PARENT.exec(header) : null) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
