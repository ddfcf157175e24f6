/**
 * Moves a project's database to another server of the installation (docs/reference/scaling.md): chooses the
 * method, and records the progress and the outcome. MoveWork does the work. Until the switch the project
 * stays on the source, whatever happens: MoveRecovery undoes the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Client } from 'pg';
import { messageOf } from '../common/errors/error-facts';
import type { Actor } from '../install/audit/audit-log.repository';
import { existingRoles, ownersCreateRoles, type OwnerRoles, readOwnerRoles } from '../copies/owner-roles';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectRepository } from '../projects/project.repository';
import { projectBusy } from '../projects/projects.errors';
import { ProjectsService } from '../projects/projects.service';
import { MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { TemplateDatabase } from '../provisioning/template-database';
import { CatchUpObstacles } from './catch-up/catch-up-obstacles';
import {
  alreadyThere,
  databaseExists,
  moveInterrupted,
  noMove,
  rolesExist,
  rolesNeedNewerServer,
  windowNeeded,
} from './move.errors';
import { MovePlaces, type Place } from './move-places';
import { MoveRecovery } from './move-recovery.service';
import { MoveRepository, type MoveRow } from './move.repository';
import { type Move, type MoveMethod, MoveWork } from './move-work.service';
import { sizeOf } from './source-snapshot';
import type { CopyProgress } from './database-copy';

const REPORT_MS = 1_000;

class MoveProgress implements CopyProgress {
  private name = 'preparing';
  private bytes = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly moves: MoveRepository,
    private readonly projectId: string,
    private readonly signal: AbortSignal,
  ) {
    this.timer = setInterval(() => this.report(), REPORT_MS);
  }

  step(name: string): void {
    this.signal.throwIfAborted();
    this.name = name;
    this.report();
  }

  passed(bytes: number): void {
    this.signal.throwIfAborted();
    this.bytes += bytes;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** The next report makes up for a failed one. */
  private report(): void {
    void this.moves.report(this.projectId, this.name, this.bytes).catch(() => undefined);
  }
}

/** Bytes of tables and indexes up to which all rows are copied while writes are refused: less than five seconds, by estimate. */
const QUICK_BYTES = 32 * 1024 * 1024;
/** Milliseconds that a shutdown waits for a move to be undone; the next start does the rest. */
const STOP_MS = 5_000;

export interface MoveRequest {
  readonly server: string;
  /** Writes may be refused for longer than five seconds. */
  readonly readOnlyWindow: boolean;
  /** The old database stays on the source, closed. */
  readonly keep: boolean;
}

@Injectable()
export class ProjectMover implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ProjectMover.name);
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<unknown>>();

  constructor(
    private readonly projects: ProjectsService,
    private readonly repository: ProjectRepository,
    private readonly moves: MoveRepository,
    private readonly places: MovePlaces,
    private readonly recovery: MoveRecovery,
    private readonly template: TemplateDatabase,
    private readonly owner: OwnerDatabase,
    private readonly registry: ProjectRegistry,
    private readonly obstacles: CatchUpObstacles,
    private readonly work: MoveWork,
  ) {}

  /** Gives up moves that have not switched yet. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort(moveInterrupted());
    await Promise.race([Promise.all(this.running), sleep(STOP_MS, undefined, { ref: false })]);
  }

  /** The last move of a project. @throws AppError 404 */
  async get(id: string): Promise<MoveRow> {
    await this.projects.get(id);
    const move = await this.moves.find(id);
    if (!move) throw noMove();
    return move;
  }

  /**
   * Begins a move, which continues after this resolves.
   * @throws AppError 404, 409 when it is not possible, or while another request works on the project
   */
  async start(id: string, request: MoveRequest, actor: Actor): Promise<MoveRow> {
    await this.projects.get(id);
    return new Promise<MoveRow>((resolve, reject) => {
      const work = this.repository
        .whileLocked(id, async () => {
          const move = await this.begin(id, request, actor);
          resolve(await this.get(id));
          await this.runMove(move);
        })
        .then((isMine) => {
          if (!isMine) reject(projectBusy());
        }, reject)
        .finally(() => this.running.delete(work));
      this.running.add(work);
    });
  }

  private async begin(id: string, request: MoveRequest, actor: Actor): Promise<Move> {
    await this.recovery.settle(id);
    const project = await this.projects.get(id);
    if (project.server === request.server) throw alreadyThere(request.server);
    const source = this.places.placeOf(project);
    const target = await this.places.onServer(project, request.server);
    await this.template.ensureOn(target.server);
    const roles = await source.server.asAdmin(MAINTENANCE_DATABASE, (client) =>
      readOwnerRoles(client, project),
    );
    await target.server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
      await assertAbsent(client, target);
      await assertRolesFit(client, roles);
    });
    const bytesTotal = await sizeOf(this.owner, project);
    const method = await this.methodFor(request, source, target, bytesTotal);
    const { server: sourceServer, serverUrl: sourceUrl } = project;
    const { server: targetServer, keep } = request;
    await this.moves.begin({ projectId: id, sourceServer, sourceUrl, targetServer, keep, bytesTotal }, actor);
    return { source, target, roles, actor, method, bytesTotal };
  }

  /** @throws AppError 409 when writes would be refused for too long */
  private async methodFor(
    { readOnlyWindow }: MoveRequest,
    source: Place,
    target: Place,
    bytes: number,
  ): Promise<MoveMethod> {
    if (readOnlyWindow) return 'window';
    if (bytes <= QUICK_BYTES) return 'quick';
    const reasons = await this.obstacles.find(source, target, QUICK_BYTES);
    if (reasons.length > 0) throw windowNeeded(bytes, QUICK_BYTES, reasons);
    return 'catch-up';
  }

  /** Does not reject; the row records the outcome. */
  private async runMove(move: Move): Promise<void> {
    const { id, slug } = move.source.project;
    const progress = new MoveProgress(this.moves, id, this.stopping.signal);
    try {
      await this.work.moveProject(move, progress, this.stopping.signal);
    } catch (error) {
      this.logger.warn(`the move of ${slug} failed: ${String(error)}`);
      await this.moves.fail(id, messageOf(error)).catch(() => undefined);
    } finally {
      progress.stop();
    }
    // Decides by the row: a commit may have succeeded although its answer was lost.
    await this.recovery
      .settle(id)
      .catch((error: unknown) =>
        this.logger.warn(`the move of ${slug} could not be ended yet: ${String(error)}`),
      );
    this.registry.forget(id);
  }
}

/** Roles of these names are replaced (DatabaseProvisioner.createEmpty). */
async function assertAbsent(client: Client, { project }: Place): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [
    project.databaseName,
  ]);
  if (rowCount !== 0) throw databaseExists(project.server ?? '', project.databaseName);
}

/** @throws AppError 409 when the target is too old, or has such a role */
async function assertRolesFit(client: Client, { roles }: OwnerRoles): Promise<void> {
  if (roles.length === 0) return;
  const names = roles.map(({ name }) => name);
  if (!(await ownersCreateRoles(client))) throw rolesNeedNewerServer(names);
  const present = await existingRoles(client, names);
  if (present.size > 0) throw rolesExist([...present]);
}
