/** Databases and roles of projects on a PostgreSQL server. */
import { Module } from '@nestjs/common';
import { DatabaseProvisioner } from './database-provisioner';
import { ObstacleWatch } from './obstacle-watch.service';
import { BackendTerminator } from './backend-terminator.service';
import { TemplateDatabase } from './template-database';

const SERVICES = [DatabaseProvisioner, ObstacleWatch, BackendTerminator, TemplateDatabase];

@Module({ providers: SERVICES, exports: SERVICES })
export class ProvisioningModule {}
