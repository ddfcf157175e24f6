/** Probes for orchestrators and load balancers, and metrics for Prometheus. */
import { Controller, Get, Header, Res, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiProperty, type ApiPropertyOptions, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { invalidCredentials, missingBearer } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import { NOT_STORED } from '../../http/docs/documented-headers';
import type { SchemaObject } from '../../http/docs/documented-types';
import { ErrorDocs } from '../../http/docs/error-docs';
import { Example } from '../../http/docs/example.decorator';
import { PLATFORM_DOCS, platformErrorBody, platformErrorSchema } from '../../http/errors/platform-error-docs';
import { tooManyHeaders } from '../../http/request-head';
import { Metrics } from '../../infra/metrics/metrics';
import { Checks, isReady, ReadinessService } from '../readiness.service';
import { MetricsGuard } from './metrics.guard';
import { Answer, Describe, Errors, errorsIn, StreamAnswer } from '../../http/docs/operation.decorators';
import { documentHandlers } from '../../http/docs/controller-docs';
import { AppError, internalError } from '../../common/errors/app-error';

/** 503, with the failed checks in the body. */
function notReady(checks: Checks): AppError {
  const down = Object.entries(checks).filter(([, check]) => check.status === 'down');
  return new AppError(
    503,
    'not_ready',
    `Not ready: ${down.map(([name, { reason }]) => `${name} (${reason ?? 'down'})`).join(', ')}`,
    { headers: { 'Retry-After': '1' }, extra: { checks }, details: { checks } },
  );
}

const UP = { platform_database: { status: 'up' }, storage: { status: 'up' } } as const;
const DOWN = { platform_database: { status: 'down', reason: 'unreachable' } } as const;

@Example({ status: 'live' })
class Liveness {
  @ApiProperty({ enum: ['live'] }) readonly status!: 'live';
}

const CHECKS = {
  type: 'object',
  description: 'By dependency',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['status'],
    properties: {
      status: { type: 'string', enum: ['up', 'down'] },
      reason: { type: 'string', description: 'Why it is down' },
    },
  },
} satisfies SchemaObject & ApiPropertyOptions;

@Example({ status: 'ready', checks: UP })
class Readiness {
  @ApiProperty({ enum: ['ready'] }) readonly status!: 'ready';
  @ApiProperty(CHECKS) readonly checks!: Checks;
}

const METRICS_EXAMPLE = `# HELP plinth_up Whether the process serves requests\n# TYPE plinth_up gauge\nplinth_up 1\n`;

const READINESS_ERRORS = new ErrorDocs({
  name: 'ReadinessError',
  headers: NOT_STORED,
  bodyOf: platformErrorBody,
  codeOf: ({ code }) => code,
  schemaOf: (status, codes) =>
    platformErrorSchema(
      status,
      { type: 'string', enum: codes as string[] },
      { properties: { checks: CHECKS }, required: ['checks'] },
    ),
});

@ApiTags('health')
@documentHandlers(() => ({ docs: PLATFORM_DOCS, errors: [internalError()] }))
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: ReadinessService,
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @PublicRoute('probes carry no credentials, and it tells nothing but that the process answers')
  @Header('Cache-Control', 'no-store')
  @Describe(`Check that the process is alive
    Needs no credential and checks no dependencies, so a failure means that the process must be restarted.`)
  @Answer(200, 'The process is alive', Liveness, NOT_STORED)
  @Errors(tooManyHeaders())
  getLiveness(): Liveness {
    return { status: 'live' };
  }

  @Get('health/ready')
  @PublicRoute('probes carry no credentials, and it names only kinds of dependencies')
  @Header('Cache-Control', 'no-store')
  @Describe(`Check that the process can serve requests
    Needs no credential. A load balancer should send no requests to a process that answers 503. A storage provider that is down, a full disk or a missing scheduled backup is reported but does not make the process unready.`)
  @Answer(200, 'Ready to serve', Readiness, NOT_STORED)
  @Errors(tooManyHeaders())
  @errorsIn(READINESS_ERRORS, [notReady(DOWN)])
  async getReadiness(): Promise<Readiness> {
    const checks = await this.readiness.check();
    if (!isReady(checks)) throw notReady(checks);
    return { status: 'ready', checks };
  }

  @Get('metrics')
  @UseGuards(MetricsGuard)
  @Describe(`Get the metrics in Prometheus' text format
    Needs PLATFORM_ADMIN_KEY or METRICS_TOKEN; none through METRICS_PORT. With WORKERS these are the metrics of all processes together.`)
  @ApiBearerAuth('platform-admin-key')
  @ApiBearerAuth('metrics-token')
  @StreamAnswer('The metrics', { 'text/plain': METRICS_EXAMPLE }, NOT_STORED)
  @Errors(invalidCredentials(), missingBearer())
  async getMetrics(@Res() response: Response): Promise<void> {
    const text = await this.metrics.text();
    response.writeHead(200, { 'Content-Type': this.metrics.contentType, 'Cache-Control': 'no-store' });
    response.end(text);
  }
}
