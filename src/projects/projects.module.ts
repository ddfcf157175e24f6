/** Projects: registry, keys, settings, creation and removal. */
import { Module } from '@nestjs/common';
import { ProvisioningModule } from '../provisioning/provisioning.module';
import { ServersModule } from '../servers/servers.module';
import { ApiKeysService } from './api-keys.service';
import { KeyRotationService } from './key-rotation.service';
import { KeyUses } from './key-uses.repository';
import { LoginRepair } from './login-repair.service';
import { MasterKeyRepository } from './master-key.repository';
import { MasterKeyRotation } from './master-key-rotation.service';
import { OwnerDatabase } from './owner-database';
import { ProjectFactory } from './project-factory';
import { ProjectKeyLists } from './project-key-lists.service';
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
    ApiKeysService,
    KeyRotationService,
    KeyUses,
    LoginRepair,
    MasterKeyRepository,
    MasterKeyRotation,
    OwnerDatabase,
    ProjectFactory,
    ProjectKeyLists,
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
    ApiKeysService,
    KeyRotationService,
    KeyUses,
    MasterKeyRotation,
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
