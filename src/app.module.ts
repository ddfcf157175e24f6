/** Where all modules meet. */
import { DynamicModule, Module } from '@nestjs/common';
import { AdminModule } from './admin/admin.module';
import { ApiDocsModule } from './api-docs/api-docs.module';
import { AccessModule } from './access/access.module';
import { AuthModule } from './auth/auth.module';
import { Clock, SystemClock } from './common/time/clock';
import { TimeModule } from './infra/time/time.module';
import { AppConfig } from './config/app-config';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { HealthModule } from './health/health.module';
import { TelemetryModule } from './infra/telemetry/telemetry.module';
import { CoordinationModule } from './infra/coordination/coordination.module';
import { RestModule } from './rest/rest.module';
import { StaffModule } from './staff/staff.module';
import { StorageModule } from './storage/storage.module';
import { ProjectEntity, ProjectSecretEntity } from './projects/project.entity';

export interface AppOptions {
  readonly config: AppConfig;
  /** Connection URL of the platform database. */
  readonly platformUrl: string;
  /** Default: the system's. */
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
        TelemetryModule,
        AccessModule,
        // Express tries routes in the order of these modules: the busiest first.
        RestModule,
        AuthModule,
        StorageModule,
        StaffModule,
        AdminModule,
        HealthModule,
        ApiDocsModule,
      ],
    };
  }
}
