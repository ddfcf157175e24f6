/** Migrations of projects' schemas. */
import { Module } from '@nestjs/common';
import { SqlModule } from '../sql/sql.module';
import { ProjectMigrationsController } from './http/project-migrations.controller';
import { MigrationLedger } from './migration-ledger.repository';
import { ProjectMigrationsService } from './project-migrations.service';

@Module({
  imports: [SqlModule],
  controllers: [ProjectMigrationsController],
  providers: [MigrationLedger, ProjectMigrationsService],
})
export class MigrationsModule {}
