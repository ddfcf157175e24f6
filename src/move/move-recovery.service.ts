/**
 * Ends moves that were interrupted: before the switch the project stays where it was and the copy is dropped; after it the
 * old database is dropped. Runs at the start, every 30 seconds, and when a database refuses connections.
 */
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ProjectPools } from '../database/pools/project-pools';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectsService } from '../projects/projects.service';
import { ProjectRepository } from '../projects/project.repository';
import { DatabaseProvisioner } from '../provisioning/database-provisioner';
import { MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { removeChanges } from './catch-up/source-changes';
import { copyKept, moveInterrupted } from './move.errors';
import { MovePlaces } from './move-places';
import { MoveRepository, type MoveRow } from './move.repository';
import { endCreation, openDatabase } from './write-stop-sessions';
import type { Client } from 'pg';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';

const MARK = 'plinth: in service after a move';

/**
 * @param client connected as the admin role on the target, in another database
 * @param loginRole the project's login role
 */
async function markInService(client: Client, loginRole: string): Promise<void> {
  await client.query(`comment on role ${quoteIdentifier(loginRole)} is ${quoteLiteral(MARK)}`);
}

/** False if the role does not exist. */
async function isInService(client: Client, loginRole: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_roles where rolname = $1 and shobj_description(oid, 'pg_authid') = $2`,
    [loginRole, MARK],
  );
  return rowCount === 1;
}

async function hasDatabase(client: Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
  return rowCount === 1;
}

const INTERVAL_MS = 30_000;

@Injectable()
export class MoveRecovery implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MoveRecovery.name);
  private timer: NodeJS.Timeout | undefined;
  /** Moves that are being ended here, by project id. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly moves: MoveRepository,
    private readonly projects: ProjectRepository,
    private readonly places: MovePlaces,
    private readonly service: ProjectsService,
    private readonly provisioner: DatabaseProvisioner,
    private readonly registry: ProjectRegistry,
    private readonly pools: ProjectPools,
  ) {}

  onApplicationBootstrap(): void {
    this.pools.onClosed = ({ key }) => {
      // This process may not know of a switch yet.
      this.registry.forget(key);
      void this.recover(key);
    };
    this.timer = setInterval(() => void this.recoverAll(), INTERVAL_MS).unref();
    void this.recoverAll();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.running.values());
  }

  /** Ends the unfinished move of a project, unless a process works on it. Failures are tried again later. */
  recover(id: string): Promise<void> {
    const known = this.running.get(id);
    if (known) return known;
    const work = this.projects
      .whileLocked(id, () => this.settle(id))
      .then(
        () => undefined,
        (error: unknown) =>
          this.logger.warn(`the move of project ${id} could not be ended yet: ${String(error)}`),
      )
      .finally(() => this.running.delete(id));
    this.running.set(id, work);
    return work;
  }

  /**
   * Ends the project's unfinished move, if there is one. The caller holds the lock of the project.
   * @throws Error when a server is unreachable; the project is in service by then
   */
  async settle(id: string): Promise<void> {
    await this.moves.giveUp(id);
    const move = await this.moves.find(id);
    if (move?.status === 'undoing') await this.undo(move);
    if (move?.status === 'switched') await this.complete(move);
  }

  private async undo(move: MoveRow): Promise<void> {
    const { projectId: id, targetServer } = move;
    const project = (await this.projects.findActive({ id }))?.project;
    if (!project || project.server === targetServer) throw new Error('the project is not on its source');
    const { server: source } = this.places.placeOf(project);
    await source.asAdmin(MAINTENANCE_DATABASE, async (client) => {
      // Without it, the copy may be all that remains of the project.
      if (!(await hasDatabase(client, project.databaseName))) throw new Error('the source has no database');
      await openDatabase(client, project.databaseName);
    });
    await removeChanges(this.places.placeOf(project));
    const target = await this.places.onServer(project, targetServer);
    if (target.server.key === source.key)
      throw new Error('the source and the target of the move are the same server');
    const isKept = await target.server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
      await endCreation(client, project.databaseName);
      return isInService(client, project.loginRole);
    });
    if (isKept) return this.moves.finish(id, 'failed', copyKept(targetServer).message);
    await this.provisioner.drop(target.server, this.service.blueprintOf(project));
    await this.moves.finish(id, 'failed', moveInterrupted().message);
  }

  private async complete(move: MoveRow): Promise<void> {
    const { projectId: id, targetServer, keep } = move;
    const project = (await this.projects.findActive({ id }))?.project;
    if (project?.server !== targetServer) throw new Error('the project is not on its target');
    const source = this.places.before(project, move);
    const { server: target } = this.places.placeOf(project);
    await target.asAdmin(MAINTENANCE_DATABASE, (client) => markInService(client, project.loginRole));
    if (source.server.key === target.key)
      throw new Error('the source and the target of the move are the same server');
    if (!keep) await this.provisioner.drop(source.server, this.service.blueprintOf(project));
    await this.moves.finish(id, 'done');
  }

  private async recoverAll(): Promise<void> {
    try {
      for (const id of await this.moves.listUnfinished()) await this.recover(id);
    } catch (error) {
      this.logger.warn(`unfinished moves could not be listed: ${String(error)}`);
    }
  }
}
