/** Probes for orchestrators and load balancers, and metrics for Prometheus (DECISIONS.md 7). */
import { Controller, Get, Header, Res, UseGuards } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiOperation,
  ApiProduces,
  ApiProperty,
  type ApiPropertyOptions,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { PlatformError, PlatformErrorDetail } from '../../http/errors/platform-error.dto';
import { Metrics } from '../../infra/telemetry/metrics';
import { notReady } from '../health.errors';
import { Checks, isReady, ReadinessService } from '../readiness.service';
import { MetricsGuard } from './metrics.guard';

class Liveness {
  @ApiProperty({ enum: ['live'] }) readonly status!: 'live';
}

const CHECKS: ApiPropertyOptions = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    required: ['status'],
    properties: {
      status: { type: 'string', enum: ['up', 'down'] },
      reason: { type: 'string', description: 'Why it is down' },
    },
  },
  example: { platform_database: { status: 'up' } },
};

class Readiness {
  @ApiProperty({ enum: ['ready'] }) readonly status!: 'ready';
  @ApiProperty(CHECKS) readonly checks!: Checks;
}

class NotReadyDetail extends PlatformErrorDetail {
  @ApiProperty(CHECKS) readonly checks!: Checks;
}

class NotReady {
  @ApiProperty({ type: NotReadyDetail }) readonly error!: NotReadyDetail;
}

@ApiTags('health')
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: ReadinessService,
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @PublicRoute('probes carry no credentials, and it tells nothing but that the process answers')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'The process answers', operationId: 'getLiveness' })
  @ApiResponse({ status: 200, type: Liveness })
  live(): Liveness {
    return { status: 'live' };
  }

  @Get('health/ready')
  @PublicRoute('probes carry no credentials, and it names only kinds of dependencies')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'What every request depends on answers', operationId: 'getReadiness' })
  @ApiResponse({ status: 200, type: Readiness })
  @ApiResponse({ status: 503, description: 'Something is down; `error.checks` says what', type: NotReady })
  async ready(): Promise<Readiness> {
    const checks = await this.readiness.check();
    if (!isReady(checks)) throw notReady(checks);
    return { status: 'ready', checks };
  }

  @Get('metrics')
  @UseGuards(MetricsGuard)
  @ApiOperation({ summary: "Metrics of this process in Prometheus' text format", operationId: 'getMetrics' })
  @ApiBearerAuth('platform-admin-key')
  @ApiBearerAuth('metrics-token')
  @ApiProduces('text/plain')
  @ApiResponse({ status: 200, schema: { type: 'string' } })
  @ApiResponse({
    status: 401,
    description: 'The bearer is neither PLATFORM_ADMIN_KEY nor METRICS_TOKEN; METRICS_PORT asks for none',
    content: { 'application/json': { schema: { $ref: getSchemaPath(PlatformError) } } },
  })
  @ApiExtraModels(PlatformError)
  async scrape(@Res() response: Response): Promise<void> {
    const text = await this.metrics.text();
    response.writeHead(200, { 'Content-Type': this.metrics.contentType, 'Cache-Control': 'no-store' });
    response.end(text);
  }
}
