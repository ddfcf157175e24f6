/** Backup and restore of projects. */
import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module';
import { PhysicalBackup } from './physical/physical-backup.service';
import { ProjectBackup } from './project-backup.service';
import { ProjectRestore } from './project-restore.service';
import { ProjectSchema } from './project-schema.service';

@Module({
  imports: [StorageModule],
  providers: [PhysicalBackup, ProjectBackup, ProjectRestore, ProjectSchema],
  exports: [PhysicalBackup, ProjectBackup, ProjectRestore, ProjectSchema],
})
export class BackupModule {}
