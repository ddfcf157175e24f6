/** Moves projects between the PostgreSQL servers of the installation. */
import { FolderModule } from '../infra/folder-module';
import { BackupModule } from '../backup/backup.module';
import { ProjectsModule } from '../projects/projects.module';
import { ProjectMovesController } from './http/project-moves.controller';
import { CatchUpObstacles } from './catch-up/catch-up-obstacles';
import { MovePlaces } from './move-places';

@FolderModule(__dirname, {
  imports: [ProjectsModule, BackupModule],
  controllers: [ProjectMovesController],
  providers: [MovePlaces, CatchUpObstacles],
})
export class MoveModule {}
