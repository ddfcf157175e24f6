/** Directories that provision people by SCIM 2.0. */
import { Module } from '@nestjs/common';
import { AdmissionGuard } from '../access/admission.guard';
import { AuthModule } from '../auth/auth.module';
import { ScimTokens, ScimTokensController } from './http/scim-tokens.controller';
import { ScimController } from './http/scim.controller';
import { ScimRepository } from './scim.repository';
import { Scim } from './scim.service';
import { StaffDirectory } from './staff-directory.service';
import { UserDirectories } from './user-directory.service';

@Module({
  imports: [AuthModule],
  controllers: [ScimController, ScimTokensController],
  providers: [AdmissionGuard, Scim, ScimRepository, ScimTokens, StaffDirectory, UserDirectories],
})
export class ScimModule {}
