/** Advice about the security and the performance of a project. */
import { Module } from '@nestjs/common';
import { BackupModule } from '../backup/backup.module';
import { AdviceDismissalRepository } from './advice-dismissal.repository';
import { Advisor } from './advisor.service';
import { BackupAge } from './checks/backup-age.check';
import { AdviceController } from './http/advice.controller';

@Module({
  imports: [BackupModule],
  controllers: [AdviceController],
  providers: [AdviceDismissalRepository, Advisor, BackupAge],
  exports: [Advisor, BackupAge],
})
export class AdvisorModule {}
