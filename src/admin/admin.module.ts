/** Platform administration. */
import { Module } from '@nestjs/common';
import { ProjectsController } from './http/projects.controller';
import { ProjectAdminService } from './project-admin.service';

@Module({ controllers: [ProjectsController], providers: [ProjectAdminService] })
export class AdminModule {}
