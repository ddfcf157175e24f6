/** The root module of the application. */
import { DynamicModule, Module } from '@nestjs/common';
import { AdminModule } from './admin/admin.module';
import { InstallHttpModule } from './install/http/install-http.module';
import { ServersHttpModule } from './servers/http/servers-http.module';
import { ProjectsHttpModule } from './projects/http/projects-http.module';
import { WebhooksModule } from './webhooks/webhooks.module';
import { SqlModule } from './sql/sql.module';
import { MigrationsModule } from './migrations/migrations.module';
import { BackupModule } from './backup/backup.module';
import { MoveModule } from './move/move.module';
import { TrafficModule } from './traffic/traffic.module';
import { AdvisorModule } from './advisor/advisor.module';
import { DoctorModule } from './doctor/doctor.module';
import { InstallModule } from './install/install.module';
import { IdentityModule } from './identity/identity.module';
import { ApiDocsModule } from './api-docs/api-docs.module';
import { AdmissionModule } from './admission/admission.module';
import { AccessModule } from './access/access.module';
import { AuthModule } from './auth/auth.module';
import { Clock, SystemClock } from './common/time/clock';
import { TimeModule } from './infra/time/time.module';
import { AppConfig } from './config/app-config';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { ConsoleModule } from './console-host/console.module';
import { HealthModule } from './health/health.module';
import { MetricsModule } from './infra/metrics/metrics.module';
import { CoordinationModule } from './infra/coordination/coordination.module';
import { RealtimeModule } from './realtime/realtime.module';
import { RestModule } from './rest/rest.module';
import { ChangesModule } from './changes/changes.module';
import { ScimModule } from './scim/scim.module';
import { StaffModule } from './staff/staff.module';
import { StorageModule } from './storage/storage.module';
import { TypeGenerationModule } from './type-generation/type-generation.module';
import { ProjectEntity, ProjectSecretEntity } from './projects/project.entity';

export interface AppOptions {
  readonly config: AppConfig;
  /** Connection URL of the platform database. */
  readonly platformUrl: string;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

@Module({})
export class AppModule {
  static forRoot({ config, platformUrl, clock }: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        TimeModule.forRoot(clock ?? new SystemClock()),
        DatabaseModule.forRoot(platformUrl, [ProjectEntity, ProjectSecretEntity]),
        CoordinationModule,
        MetricsModule,
        InstallModule,
        AdmissionModule,
        AccessModule,
        IdentityModule,
        // Express tries routes in the order of these modules: the busiest first.
        RestModule,
        ChangesModule,
        AuthModule,
        StorageModule,
        RealtimeModule,
        StaffModule,
        ScimModule,
        InstallHttpModule,
        ServersHttpModule,
        ProjectsHttpModule,
        SqlModule,
        WebhooksModule,
        MigrationsModule,
        BackupModule,
        MoveModule,
        TrafficModule,
        AdminModule,
        AdvisorModule,
        DoctorModule,
        HealthModule,
        // Must come before the route /docs/:asset.
        ConsoleModule,
        ApiDocsModule,
        TypeGenerationModule,
      ],
    };
  }
}
