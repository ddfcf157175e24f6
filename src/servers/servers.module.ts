/** The PostgreSQL servers of the installation, their replicas and poolers. */
import { FolderModule } from '../infra/folder-module';
import { ProvisioningModule } from '../provisioning/provisioning.module';
import { ReplicaList } from './replica-list.service';

@FolderModule(__dirname, {
  imports: [ProvisioningModule],
  providers: [ReplicaList],
})
export class ServersModule {}
