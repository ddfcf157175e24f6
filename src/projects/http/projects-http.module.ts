/** The HTTP interface of projects. */
import { FolderModule } from '../../infra/folder-module';
import { AuthModule } from '../../auth/auth.module';
import { ApiKeysController } from './api-keys.controller';
import { ProjectsModule } from '../projects.module';
import { ProjectsController } from './projects.controller';
import { S3KeysController } from './s3-keys.controller';
import { UpgradeController } from './upgrade.controller';

@FolderModule(__dirname, {
  imports: [AuthModule, ProjectsModule],
  controllers: [ApiKeysController, ProjectsController, S3KeysController, UpgradeController],
})
export class ProjectsHttpModule {}
