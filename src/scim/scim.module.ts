/** Directories that provision people by SCIM 2.0. */
import { FolderModule } from '../infra/folder-module';
import { AdmissionGuard } from '../access/admission.guard';
import { AuthModule } from '../auth/auth.module';
import { ScimTokens, ScimTokensController } from './http/scim-tokens.controller';
import { ScimGroupsController } from './http/scim-groups.controller';
import { ScimController } from './http/scim.controller';

@FolderModule(__dirname, {
  imports: [AuthModule],
  controllers: [ScimController, ScimGroupsController, ScimTokensController],
  providers: [AdmissionGuard, ScimTokens],
})
export class ScimModule {}
