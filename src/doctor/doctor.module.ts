/** Checks of the install and its dependencies. */
import { FolderModule } from '../infra/folder-module';
import { AdvisorModule } from '../advisor/advisor.module';
import { BackupModule } from '../backup/backup.module';
import { StorageModule } from '../storage/storage.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { DOCTOR_CHECKS, DoctorService } from './doctor.service';
import type { DoctorCheck } from './finding';
import { DoctorController } from './http/doctor.controller';

@FolderModule(__dirname, {
  imports: [AdvisorModule, BackupModule, StorageModule, WebhooksModule],
  controllers: [DoctorController],
  providers: [
    {
      provide: DoctorService,
      inject: [...DOCTOR_CHECKS],
      useFactory: (...checks: DoctorCheck[]) => new DoctorService(checks),
    },
  ],
})
export class DoctorModule {}
