/** Projects: registry, keys, settings, creation and removal. */
import { Module } from '@nestjs/common';
import { ProvisioningModule } from '../provisioning/provisioning.module';
import { ServersModule } from '../servers/servers.module';
import { KeyRotationService } from './key-rotation.service';
import { LoginRepair } from './login-repair.service';
import { OwnerDatabase } from './owner-database';
import { ProjectFactory } from './project-factory';
import { ProjectPauses } from './project-pauses.service';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectUpkeep } from './project-upkeep.service';
import { ProjectsService } from './projects.service';
import { S3KeysService } from './s3-keys.service';
import { SigningKeysService } from './signing-keys.service';
import { RelationAdopter } from './relation-adopter.service';
import { WriteStops } from './write-stops.service';

@Module({
  imports: [ProvisioningModule, ServersModule],
  providers: [
    KeyRotationService,
    LoginRepair,
    OwnerDatabase,
    ProjectFactory,
    ProjectPauses,
    ProjectRegistry,
    ProjectRepository,
    ProjectSecrets,
    ProjectUpkeep,
    ProjectsService,
    RelationAdopter,
    S3KeysService,
    SigningKeysService,
    WriteStops,
  ],
  exports: [
    KeyRotationService,
    OwnerDatabase,
    ProjectPauses,
    ProjectRegistry,
    ProjectRepository,
    ProjectSecrets,
    ProjectsService,
    ProjectUpkeep,
    ProvisioningModule,
    RelationAdopter,
    S3KeysService,
    ServersModule,
    WriteStops,
  ],
})
export class ProjectsModule {}
