/** Moves projects between the PostgreSQL servers of the installation. */
import { Module } from '@nestjs/common';
import { BackupModule } from '../backup/backup.module';
import { ProjectsModule } from '../projects/projects.module';
import { CatchUpObstacles } from './catch-up/catch-up-obstacles';
import { MovePlaces } from './move-places';
import { MoveRecovery } from './move-recovery.service';
import { MoveRepository } from './move.repository';
import { MoveWork } from './move-work.service';
import { ProjectMover } from './project-mover.service';
import { WriteStop } from './write-stop.service';
import { ProjectMovesController } from './http/project-moves.controller';

@Module({
  imports: [ProjectsModule, BackupModule],
  controllers: [ProjectMovesController],
  providers: [CatchUpObstacles, MovePlaces, MoveRecovery, MoveRepository, MoveWork, ProjectMover, WriteStop],
  exports: [ProjectMover],
})
export class MoveModule {}
