/** Databases and roles of projects on a PostgreSQL server. */
import { Module } from '@nestjs/common';
import { DatabaseProvisioner } from './database-provisioner';
import { ObstacleWatch } from './obstacle-watch.service';
import { SessionEnder } from './session-ender.service';
import { TemplateDatabase } from './template-database';

const SERVICES = [DatabaseProvisioner, ObstacleWatch, SessionEnder, TemplateDatabase];

@Module({ providers: SERVICES, exports: SERVICES })
export class ProvisioningModule {}
