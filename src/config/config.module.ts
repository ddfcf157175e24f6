/** Provides the configuration in small pieces. */
import { DynamicModule, Global, Module } from '@nestjs/common';
import {
  APP_CONFIG,
  AppConfig,
  AUTH_CONFIG,
  BACKUP_CONFIG,
  DATABASE_CONFIG,
  MAIL_CONFIG,
  PASSWORD_CONFIG,
  PLAN_QUOTAS,
  SECRETS_CONFIG,
  SERVER_CONFIG,
  STAFF_CONFIG,
  STORAGE_CONFIG,
  WEBHOOK_CONFIG,
} from './app-config';

@Global()
@Module({})
export class ConfigModule {
  static forRoot(config: AppConfig): DynamicModule {
    const providers = [
      { provide: APP_CONFIG, useValue: config },
      { provide: SERVER_CONFIG, useValue: config.server },
      { provide: DATABASE_CONFIG, useValue: config.database },
      { provide: MAIL_CONFIG, useValue: config.mail },
      { provide: SECRETS_CONFIG, useValue: config.secrets },
      { provide: STORAGE_CONFIG, useValue: config.storage },
      { provide: BACKUP_CONFIG, useValue: config.backups },
      { provide: PASSWORD_CONFIG, useValue: config.passwords },
      { provide: AUTH_CONFIG, useValue: config.auth },
      { provide: WEBHOOK_CONFIG, useValue: config.webhooks },
      { provide: STAFF_CONFIG, useValue: config.staff },
      { provide: PLAN_QUOTAS, useValue: config.planQuotas },
    ];
    return { module: ConfigModule, providers, exports: providers };
  }
}
