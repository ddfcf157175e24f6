/** Databases and roles of projects on a PostgreSQL server. */
import { FolderModule } from '../infra/folder-module';
import { TemplateDatabase } from './template-database';
import { DatabaseProvisioner } from './database-provisioner';

@FolderModule(__dirname, { providers: [DatabaseProvisioner, TemplateDatabase] })
export class ProvisioningModule {}
