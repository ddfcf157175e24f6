/** Backup and restore of projects. */
import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module';
import { ProjectBackup } from './project-backup.service';
import { ProjectRestore } from './project-restore.service';

@Module({
  imports: [StorageModule],
  providers: [ProjectBackup, ProjectRestore],
  exports: [ProjectBackup, ProjectRestore],
})
export class BackupModule {}
