/** The HTTP interface of projects. */
import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module';
import { ApiKeysController } from './api-keys.controller';
import { ProjectAdminService } from './project-admin.service';
import { ProjectsModule } from '../projects.module';
import { ProjectsController } from './projects.controller';
import { S3KeysController } from './s3-keys.controller';
import { UpgradeController } from './upgrade.controller';

@Module({
  imports: [AuthModule, ProjectsModule],
  controllers: [ApiKeysController, ProjectsController, S3KeysController, UpgradeController],
  providers: [ProjectAdminService],
})
export class ProjectsHttpModule {}
