/** Authentication of requests: strategies and the providers of the guards. */
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { PassportModule } from '@nestjs/passport';
import { LimitsModule } from '../limits/limits.module';
import { ProjectsModule } from '../projects/projects.module';
import { ApiKeyStrategy } from './strategies/api-key.strategy';
import { BearerStrategy } from './strategies/bearer.strategy';
import { MemoryBudget } from '../admission/memory-budget';
import { BodyReader } from '../http/bodies/body-reader';
import { SERVER_CONFIG, type ServerConfig } from '../config/app-config';
import { CallerCheck } from './caller-check.service';
import { IssuerTokens } from './issuer-tokens.service';
import { NamedKeys } from './named-keys.service';
import { RouteRules } from './route-rules.service';
import { TokenVerifier } from './token-verifier';
import { VerifiedCredentials } from './verified-credentials';

/** How long (in milliseconds) and how many requests wait for memory: at most as for a database connection. */
const WAIT_TIMEOUT_MS = 3_000;
const MAX_WAITING = 1_000;

@Global()
@Module({
  imports: [PassportModule.register({ session: false }), DiscoveryModule, LimitsModule, ProjectsModule],
  providers: [
    ApiKeyStrategy,
    BearerStrategy,
    CallerCheck,
    IssuerTokens,
    NamedKeys,
    RouteRules,
    TokenVerifier,
    VerifiedCredentials,
    {
      provide: MemoryBudget,
      inject: [SERVER_CONFIG],
      useFactory: ({ maxBufferedBytes }: ServerConfig) =>
        new MemoryBudget({
          total: maxBufferedBytes,
          waitTimeoutMs: WAIT_TIMEOUT_MS,
          maxWaiting: MAX_WAITING,
        }),
    },
    {
      provide: BodyReader,
      inject: [MemoryBudget, SERVER_CONFIG],
      useFactory: (budget: MemoryBudget, { minBodyRate, bodyRateWindowMs, bodyTimeoutMs }: ServerConfig) =>
        new BodyReader(
          budget,
          { minRate: minBodyRate, windowMs: bodyRateWindowMs, deadlineMs: bodyTimeoutMs },
          // Uses the project of the verified key, never the one in the URL.
          ({ apiKey, ip }) => ({ account: apiKey?.project.id ?? '', address: ip ?? '' }),
        ),
    },
  ],
  exports: [
    ApiKeyStrategy,
    BearerStrategy,
    MemoryBudget,
    BodyReader,
    CallerCheck,
    LimitsModule,
    NamedKeys,
    ProjectsModule,
    RouteRules,
    VerifiedCredentials,
  ],
})
export class AccessModule {}
