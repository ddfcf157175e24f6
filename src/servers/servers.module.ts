/** The PostgreSQL servers of the installation, their replicas and poolers. */
import { Module } from '@nestjs/common';
import { ProvisioningModule } from '../provisioning/provisioning.module';
import { ReplicaList } from './replica-list.service';
import { ServerRepository } from './server.repository';
import { ServersService } from './servers.service';

@Module({
  imports: [ProvisioningModule],
  providers: [ReplicaList, ServerRepository, ServersService],
  exports: [ServersService],
})
export class ServersModule {}
