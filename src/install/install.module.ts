/** Services that the processes of the installation share: the audit log, platform metadata, and messages. */
import { Global } from '@nestjs/common';
import { FolderModule } from '../infra/folder-module';

@Global()
@FolderModule(__dirname)
export class InstallModule {}
