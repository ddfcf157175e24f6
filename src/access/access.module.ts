/** Who is asking: strategies and what the guards need. */
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { PassportModule } from '@nestjs/passport';
import { ProjectsModule } from '../projects/projects.module';
import { ApiKeyStrategy } from './strategies/api-key.strategy';
import { BearerStrategy } from './strategies/bearer.strategy';
import { CallerCheck } from './caller-check.service';
import { RouteRules } from './route-rules.service';
import { TokenVerifier } from './token-verifier';
import { VerifiedCredentials } from './verified-credentials';

@Global()
@Module({
  imports: [PassportModule.register({ session: false }), DiscoveryModule, ProjectsModule],
  providers: [ApiKeyStrategy, BearerStrategy, CallerCheck, RouteRules, TokenVerifier, VerifiedCredentials],
  exports: [ApiKeyStrategy, BearerStrategy, CallerCheck, ProjectsModule, VerifiedCredentials],
})
export class AccessModule {}
