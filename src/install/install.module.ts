/** What the processes of the installation share: the audit log, platform metadata, and messages to each other. */
import { Global, Module } from '@nestjs/common';
import { AuditChainRepository } from './audit/audit-chain.repository';
import { AuditLogRepository } from './audit/audit-log.repository';
import { HistoryRepository } from './history/history.repository';
import { History } from './history/history.service';
import { MessageBus } from './message-bus.service';
import { PlatformMetadataRepository } from './platform-metadata.repository';
import { Secrets } from './secrets.service';

const SERVICES = [
  AuditChainRepository,
  AuditLogRepository,
  History,
  HistoryRepository,
  MessageBus,
  PlatformMetadataRepository,
  Secrets,
];

@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class InstallModule {}
