/** Migrations of projects' schemas. */
import { FolderModule } from '../infra/folder-module';
import { SqlModule } from '../sql/sql.module';
import { ProjectMigrationsController } from './http/project-migrations.controller';

@FolderModule(__dirname, {
  imports: [SqlModule],
  controllers: [ProjectMigrationsController],
})
export class MigrationsModule {}
