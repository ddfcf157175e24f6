/** Who is asking: strategies and what the guards need. */
import { Global, Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { ProjectsModule } from '../projects/projects.module';
import { ApiKeyStrategy } from './strategies/api-key.strategy';
import { BearerStrategy } from './strategies/bearer.strategy';
import { TokenVerifier } from './token-verifier';
import { VerifiedCredentials } from './verified-credentials';

@Global()
@Module({
  imports: [PassportModule.register({ session: false }), ProjectsModule],
  providers: [ApiKeyStrategy, BearerStrategy, TokenVerifier, VerifiedCredentials],
  exports: [ProjectsModule, TokenVerifier, VerifiedCredentials],
})
export class AccessModule {}
