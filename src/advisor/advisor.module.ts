/** Advice about the security and the performance of a project. */
import { FolderModule } from '../infra/folder-module';
import { BackupModule } from '../backup/backup.module';
import { AdviceController } from './http/advice.controller';

@FolderModule(__dirname, {
  imports: [BackupModule],
  controllers: [AdviceController],
})
export class AdvisorModule {}
