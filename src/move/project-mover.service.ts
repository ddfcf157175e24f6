/**
 * Moves a project's database to another server of the installation (docs/scaling.md). The order makes it certain that no
 * acknowledged write is lost:
 *
 * 1. The target gets roles, an empty database and the definitions, while the project is in use.
 * 2. Locks in the source database keep everybody from writing; reads go on. Rows, indexes and settings are copied.
 * 3. The source database refuses all sessions; the sequences are copied.
 * 4. One commit in the platform database makes the target the project's place.
 * 5. The source database is dropped.
 *
 * Up to the commit the project stays on the source, whatever happens: MoveRecovery undoes the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Client } from 'pg';
import { messageOf } from '../common/errors/error-facts';
import { NO_RESULTS, ProjectLoader } from '../backup/database/project-loader';
import { OWNER_WORK_OPTIONS } from '../database/pools/startup-options';
import type { Actor } from '../projects/audit-log.repository';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectRepository } from '../projects/project.repository';
import { projectBusy } from '../projects/projects.errors';
import { ProjectsService } from '../projects/projects.service';
import { DatabaseProvisioner } from '../projects/provisioning/database-provisioner';
import { MAINTENANCE_DATABASE } from '../projects/provisioning/database-server';
import { TemplateDatabase } from '../projects/provisioning/template-database';
import { type CopyTarget, DatabaseCopy } from './database-copy';
import { closeDatabase, endOthers } from './database-fence';
import {
  alreadyThere,
  databaseExists,
  largeObjectsChanged,
  moveInterrupted,
  noMove,
  schemaChanged,
  windowTooLong,
} from './move.errors';
import { MovePlaces, type Place } from './move-places';
import { MoveProgress } from './move-progress';
import { MoveRecovery } from './move-recovery.service';
import { MoveRepository, type MoveRow } from './move.repository';
import { assertRolesFit, createOwnerRoles, type OwnerRoles, readOwnerRoles } from './owner-roles';
import { largeObjectFingerprint, schemaFingerprint } from './schema-fingerprint';
import { newRestrictKey, type SchemaText, sizeOf, SourceSnapshot } from './source-snapshot';
import { type LockedTable, pidOf } from './write-lock';
import { type Locked, WriteStop } from './write-stop.service';

/** Bytes of tables and indexes up to which a copy is expected to take less than five seconds. An estimate. */
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

interface Move {
  readonly source: Place;
  readonly target: Place;
  readonly roles: OwnerRoles;
  readonly actor: Actor;
  /** Writes may not be refused for long. */
  readonly isQuick: boolean;
}

interface Definitions {
  readonly schema: SchemaText;
  readonly key: string;
  readonly tables: readonly LockedTable[];
  readonly hasLargeObjects: boolean;
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
    private readonly provisioner: DatabaseProvisioner,
    private readonly template: TemplateDatabase,
    private readonly owner: OwnerDatabase,
    private readonly registry: ProjectRegistry,
    private readonly writeStop: WriteStop,
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
   * Begins a move, which goes on after this resolves.
   * @throws AppError 404, 409 when it is not possible, or while another request works on the project
   */
  async start(id: string, request: MoveRequest, actor: Actor): Promise<MoveRow> {
    await this.projects.get(id);
    return new Promise<MoveRow>((resolve, reject) => {
      const work = this.repository
        .whileLocked(id, async () => {
          const move = await this.begin(id, request, actor);
          resolve(await this.get(id));
          await this.run(move);
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
    if (bytesTotal > QUICK_BYTES && !request.readOnlyWindow) throw windowTooLong(bytesTotal, QUICK_BYTES);
    const { server: sourceServer, serverUrl: sourceUrl } = project;
    const { server: targetServer, keep } = request;
    await this.moves.begin({ projectId: id, sourceServer, sourceUrl, targetServer, keep, bytesTotal }, actor);
    return { source, target, roles, actor, isQuick: !request.readOnlyWindow };
  }

  /** Does not reject: the row has the outcome. */
  private async run(move: Move): Promise<void> {
    const { id, slug } = move.source.project;
    const progress = new MoveProgress(this.moves, id, this.stopping.signal);
    try {
      await this.copyAndSwitch(move, progress);
    } catch (error) {
      this.logger.warn(`the move of ${slug} failed: ${String(error)}`);
      await this.moves.fail(id, messageOf(error)).catch(() => undefined);
    } finally {
      progress.stop();
    }
    // By what the row says: a commit may have succeeded although its answer was lost.
    await this.recovery
      .settle(id)
      .catch((error: unknown) =>
        this.logger.warn(`the move of ${slug} could not be ended yet: ${String(error)}`),
      );
    this.registry.forget(id);
  }

  private async copyAndSwitch(move: Move, progress: MoveProgress): Promise<void> {
    const { source, target, roles } = move;
    await this.owner.repairAccess(source.project);
    progress.step('preparing the target');
    const { polled, extensions, definitions } = await this.prepare(move);
    await target.server.asAdmin(MAINTENANCE_DATABASE, (client) =>
      createOwnerRoles(client, target.project, roles),
    );
    const settings = { options: OWNER_WORK_OPTIONS, limits: NO_RESULTS, application_name: 'plinth-move' };
    await this.owner.use(
      target.project,
      'a copy is loaded with the rights of the owner only',
      async (client) => {
        const version = await this.versionOf(target);
        const loader = await ProjectLoader.begin(client, extensions, version, new Map());
        await loader.run(definitions.schema.preData);
        const to = { client, loader, project: target.project };
        await this.writeStop.during({ source, isQuick: move.isQuick, ...definitions }, (locked) =>
          this.copyLocked({ ...locked, move, definitions, polled, progress }, to),
        );
      },
      settings,
    );
  }

  private async prepare({ source, target }: Move): Promise<{
    polled: boolean;
    extensions: Parameters<typeof ProjectLoader.begin>[1];
    definitions: Definitions;
  }> {
    const key = newRestrictKey();
    return SourceSnapshot.during(this.owner, source.project, async (snapshot) => {
      const extensions = await snapshot.rows.extensions();
      const definitions = {
        schema: await snapshot.schema(key),
        key,
        tables: await snapshot.rows.tables(),
        hasLargeObjects: await snapshot.hasLargeObjects(),
      };
      const byAdmin = extensions.filter(({ by_owner: byOwner }) => !byOwner);
      const blueprint = this.projects.blueprintOf(target.project);
      const { polled } = await this.provisioner.createEmpty(target.server, blueprint, byAdmin);
      if (target.project.settings.auto_rls === false)
        await this.provisioner.setAutoRls(target.server, target.project.databaseName, false);
      return { polled, extensions, definitions };
    });
  }

  private async copyLocked(locked: LockedMove, to: CopyTarget): Promise<void> {
    const { move, definitions, progress, admin, spared } = locked;
    const { project } = move.source;
    const { schema, key, hasLargeObjects } = definitions;
    const objects = await objectsOf(locked);
    await SourceSnapshot.during(this.owner, project, async (snapshot) => {
      if (!(await snapshot.hasSchema(schema, key))) throw schemaChanged();
      const fingerprint = await schemaFingerprint(snapshot.client);
      const copy = new DatabaseCopy(to, schema, key, progress);
      await copy.run(snapshot, hasLargeObjects);
      progress.step('switching');
      const mine = [...spared, await pidOf(snapshot.client)];
      await closeDatabase(admin, project.databaseName, mine);
      await locked.assertHeld();
      await snapshot.leave();
      if ((await schemaFingerprint(snapshot.client)) !== fingerprint) throw schemaChanged();
      if ((await objectsOf(locked)) !== objects) throw largeObjectsChanged();
      await copy.setSequences(snapshot);
      await this.switch(locked);
      // The locks are still held: a session that slipped in has written nothing, and never will.
      await endOthers(admin, project.databaseName, mine);
    });
  }

  private async switch({ move, polled, since }: LockedMove): Promise<void> {
    const { id, server, serverUrl } = move.target.project;
    this.stopping.signal.throwIfAborted();
    const place = {
      server: server ?? '',
      serverUrl,
      polled,
      writesRefusedMs: Math.round(performance.now() - since),
    };
    if (!(await this.moves.switch(id, place, move.actor))) throw moveInterrupted();
    this.registry.forget(id);
  }

  private async versionOf({ server }: Place): Promise<number> {
    return server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
      const { rows } = await client.query<{ version: number }>(
        `select current_setting('server_version_num')::int as version`,
      );
      return rows[0]?.version ?? 0;
    });
  }
}

interface LockedMove extends Locked {
  readonly move: Move;
  readonly definitions: Definitions;
  readonly polled: boolean;
  readonly progress: MoveProgress;
}

const objectsOf = async ({ objects }: Locked): Promise<string> =>
  objects ? largeObjectFingerprint(objects) : '';

async function assertAbsent(client: Client, { project }: Place): Promise<void> {
  const { databaseName, ownerRole, loginRole } = project;
  const { rowCount } = await client.query(
    `select from pg_database where datname = $1
     union all select from pg_roles where rolname = any ($2)`,
    [databaseName, [ownerRole, loginRole]],
  );
  if (rowCount !== 0) throw databaseExists(project.server ?? '', databaseName);
}
