/** Projects: registry, keys, settings, provisioning. */
import { Module } from '@nestjs/common';
import { AuditChainRepository } from './audit-chain.repository';
import { AuditLogRepository } from './audit-log.repository';
import { KeyRotationService } from './key-rotation.service';
import { LoginRepair } from './login-repair.service';
import { OwnerDatabase } from './owner-database';
import { ProjectFactory } from './project-factory';
import { PlatformMetadataRepository } from './platform-metadata.repository';
import { ProjectPauses } from './project-pauses.service';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectUpkeep } from './project-upkeep.service';
import { RelationAdopter } from './relation-adopter.service';
import { ProjectsService } from './projects.service';
import { BackendTerminator } from './backend-terminator.service';
import { SessionWatch } from './session-watch.service';
import { ProjectQuotas } from './quotas/project-quotas.service';
import { QuotaUseRepository } from './quotas/quota-use.repository';
import { DatabaseProvisioner } from './provisioning/database-provisioner';
import { ObstacleWatch } from './provisioning/obstacle-watch.service';
import { TemplateDatabase } from './provisioning/template-database';
import { ReplicaList } from './servers/replica-list.service';
import { ServerRepository } from './servers/server.repository';
import { ServersService } from './servers/servers.service';
import { WriteGate } from './write-gate.service';

@Module({
  providers: [
    AuditChainRepository,
    AuditLogRepository,
    DatabaseProvisioner,
    KeyRotationService,
    LoginRepair,
    ObstacleWatch,
    OwnerDatabase,
    PlatformMetadataRepository,
    ProjectFactory,
    ProjectPauses,
    ProjectQuotas,
    ProjectRegistry,
    ProjectRepository,
    ProjectSecrets,
    ProjectUpkeep,
    ProjectsService,
    QuotaUseRepository,
    RelationAdopter,
    ReplicaList,
    BackendTerminator,
    SessionWatch,
    ServerRepository,
    ServersService,
    TemplateDatabase,
    WriteGate,
  ],
  exports: [
    AuditChainRepository,
    AuditLogRepository,
    DatabaseProvisioner,
    KeyRotationService,
    OwnerDatabase,
    PlatformMetadataRepository,
    ProjectPauses,
    ProjectQuotas,
    ProjectRegistry,
    ProjectRepository,
    ProjectSecrets,
    ProjectsService,
    ProjectUpkeep,
    RelationAdopter,
    ServersService,
    TemplateDatabase,
    WriteGate,
  ],
})
export class ProjectsModule {}
