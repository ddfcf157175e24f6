/** What the processes of the installation share: the audit log, platform metadata, and messages to each other. */
import { Global } from '@nestjs/common';
import { FolderModule } from '../infra/folder-module';

@Global()
@FolderModule(__dirname)
export class InstallModule {}
