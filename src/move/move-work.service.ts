/**
 * The steps of a move. Their order makes it certain that no acknowledged write is lost:
 *
 * 1. The target gets roles, an empty database and the definitions, while the project is in use.
 * 2. A large project is copied now, and its changes are followed until the target is less than a second behind.
 * 3. Locks in the source database refuse writes; reads continue. A small project is copied now; of a large one, the
 *    last changes.
 * 4. The source database refuses all sessions; the sequences are copied.
 * 5. One commit in the platform database makes the target the project's server.
 */
import { Injectable } from '@nestjs/common';
import { NO_RESULTS, ProjectLoader } from '../copies/load/project-loader';
import { completeOwnerRoles, createOwnerRoles, type OwnerRoles } from '../copies/owner-roles';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { quoteIdentifier } from '../database/sql/identifier';
import type { Actor } from '../install/audit/audit-log.repository';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectsService } from '../projects/projects.service';
import { DatabaseProvisioner } from '../provisioning/database-provisioner';
import { MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { CatchUp } from './catch-up/catch-up';
import { ChangeReplay } from './catch-up/change-replay';
import { readMaterializedViews, readTables } from './catch-up/followed-tables';
import { SourceChanges } from './catch-up/source-changes';
import { type CopyProgress, type CopyTarget, DatabaseCopy } from './database-copy';
import { largeObjectsChanged, moveInterrupted, schemaChanged } from './move.errors';
import type { Place } from './move-places';
import { MoveRepository } from './move.repository';
import { largeObjectFingerprint, schemaFingerprint } from './schema-fingerprint';
import { newRestrictKey, type SchemaText, SourceSnapshot } from './source-snapshot';
import { closeDatabase, endOthers, type LockedTable, pidOf } from './write-stop-sessions';
import { type Locked, WriteStop } from './write-stop.service';

/**
 * `quick`: all rows are copied while writes are refused, within seconds. `window`: the same, however long it takes.
 * `catch-up`: rows are copied before, and changes are followed.
 */
export type MoveMethod = 'quick' | 'window' | 'catch-up';

export interface Move {
  readonly source: Place;
  readonly target: Place;
  readonly roles: OwnerRoles;
  readonly actor: Actor;
  readonly method: MoveMethod;
  /** Size of tables and indexes. */
  readonly bytesTotal: number;
}

interface Definitions {
  readonly schema: SchemaText;
  readonly key: string;
  readonly tables: readonly LockedTable[];
  readonly hasLargeObjects: boolean;
}

interface Run {
  readonly move: Move;
  readonly progress: CopyProgress;
  /** Aborted when the move is to be given up. */
  readonly signal: AbortSignal;
}

interface Prepared extends Run {
  readonly definitions: Definitions;
  readonly extensions: Parameters<typeof ProjectLoader.begin>[1];
  readonly polled: boolean;
}

/** The steps while writes are refused. */
interface Transfer {
  /** Makes the target equal to the source. */
  finishCopy(snapshot: SourceSnapshot): Promise<void>;
  /** Runs right before the switch, when the source accepts no other connections. */
  readonly leave?: () => Promise<void>;
  /** Sessions in the source database that leave() needs. */
  readonly sessions?: readonly number[];
}

@Injectable()
export class MoveWork {
  constructor(
    private readonly projects: ProjectsService,
    private readonly moves: MoveRepository,
    private readonly provisioner: DatabaseProvisioner,
    private readonly owner: OwnerDatabase,
    private readonly registry: ProjectRegistry,
    private readonly writeStop: WriteStop,
  ) {}

  /** @throws the reason when the project has to stay where it is */
  async moveProject(move: Move, progress: CopyProgress, signal: AbortSignal): Promise<void> {
    const run = { move, progress, signal };
    await this.owner.repairAccess(move.source.project);
    progress.step('preparing the target');
    await (move.method === 'catch-up' ? this.followAndSwitch(run) : this.copyAndSwitch(run));
  }

  private async copyAndSwitch(run: Run): Promise<void> {
    const prepared = await this.prepare(run);
    const { schema, key, hasLargeObjects } = prepared.definitions;
    await this.onTarget(prepared, async (to) => {
      const copy = new DatabaseCopy(to, schema, key, run.progress);
      await this.stopAndSwitch(prepared, copy, {
        finishCopy: (snapshot) => copy.copyDatabase(snapshot, hasLargeObjects),
      });
    });
  }

  private async followAndSwitch(run: Run): Promise<void> {
    const { source, bytesTotal } = run.move;
    const { followed, views } = await this.owner.use(
      source.project,
      'logical replication follows the tables of the project',
      async (client) => ({
        followed: (await readTables(client)).filter(({ isFollowed }) => isFollowed),
        views: await readMaterializedViews(client),
      }),
      { options: OWNER_WORK_OPTIONS, application_name: 'plinth-move' },
    );
    await SourceChanges.during(source, followed, bytesTotal, async (changes) => {
      const prepared = await this.prepare(run);
      await this.onTarget(prepared, async (to) => {
        await this.copyFollowed(prepared, to, changes);
        const copy = new DatabaseCopy(
          to,
          prepared.definitions.schema,
          prepared.definitions.key,
          run.progress,
        );
        await ChangeReplay.on(run.move.target, this.owner, followed, async (replay) => {
          const names = new Set(followed.map(({ schema, name }) => `${schema}\0${name}`));
          const target = { client: to.client, serverVersion: to.serverVersion, views, followed: names };
          const catchUp = new CatchUp(changes, replay, target, run.progress);
          await catchUp.converge();
          const checked = await this.checkedAgain(prepared);
          await catchUp.converge();
          await this.stopAndSwitch(checked, copy, {
            finishCopy: (snapshot) => catchUp.finish(snapshot),
            leave: () => changes.unpublish(),
            sessions: [await changes.sessionId()],
          });
        });
      });
    });
  }

  /** Comparing schemas takes long if the fingerprint has changed. So it is done once more before writes are refused. */
  private async checkedAgain(prepared: Prepared): Promise<Prepared> {
    const { schema, key } = prepared.definitions;
    return SourceSnapshot.during(this.owner, prepared.move.source.project, async (snapshot) => {
      if (!(await snapshot.hasSchema(schema, key))) throw schemaChanged();
      const fingerprint = await schemaFingerprint(snapshot.client);
      return { ...prepared, definitions: { ...prepared.definitions, schema: { ...schema, fingerprint } } };
    });
  }

  /** Copies the project as of the time from which its changes are kept. */
  private async copyFollowed(
    { move, definitions: { schema, key }, progress }: Prepared,
    to: CopyTarget,
    changes: SourceChanges,
  ): Promise<void> {
    const watched = {
      step: (name: string) => progress.step(name),
      passed: (bytes: number) => {
        changes.assertUsable();
        progress.passed(bytes);
      },
    };
    await changes.begin((exported) =>
      SourceSnapshot.during(
        this.owner,
        move.source.project,
        async (snapshot) => {
          if (!(await snapshot.hasSchema(schema, key))) throw schemaChanged();
          await new DatabaseCopy(to, schema, key, watched).copyDatabase(snapshot, false);
        },
        exported,
      ),
    );
    // The definitions include the publication of the move.
    await to.client.query(`drop publication if exists ${quoteIdentifier(changes.publication)}`);
    progress.step('collecting statistics');
    await to.client.query('analyze');
  }

  private async onTarget(
    prepared: Prepared,
    work: (to: CopyTarget & { readonly serverVersion: number }) => Promise<void>,
  ): Promise<void> {
    const { move, extensions, definitions } = prepared;
    const { target, roles } = move;
    await target.server.asAdmin(MAINTENANCE_DATABASE, (client) =>
      completeOwnerRoles(client, target.project, roles),
    );
    const settings = {
      options: OWNER_WORK_OPTIONS,
      limits: NO_RESULTS,
      application_name: 'plinth-move',
      keepAlive: true,
    };
    await this.owner.use(
      target.project,
      'a copy is loaded with the rights of the owner only',
      async (client) => {
        const serverVersion = await versionOf(target);
        const loader = await ProjectLoader.begin(client, extensions, serverVersion, new Map());
        await loader.loadDump(definitions.schema.preData);
        await work({ client, loader, project: target.project, serverVersion });
      },
      settings,
    );
  }

  private async prepare(run: Run): Promise<Prepared> {
    const { source, target, roles } = run.move;
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
      await target.server.asAdmin(MAINTENANCE_DATABASE, (client) =>
        createOwnerRoles(client, blueprint.ownerRole, roles),
      );
      // The SQL is that of the source, where the owner has these rights.
      await this.provisioner.admitOwner(target.server, blueprint);
      if (target.project.settings.auto_rls === false)
        await this.provisioner.setAutoRls(target.server, target.project.databaseName, false);
      return { ...run, polled, extensions, definitions };
    });
  }

  private async stopAndSwitch(prepared: Prepared, copy: DatabaseCopy, transfer: Transfer): Promise<void> {
    const { move, definitions } = prepared;
    const stop = { source: move.source, isQuick: move.method !== 'window', ...definitions };
    await this.writeStop.during(stop, (locked) => this.transferLocked(prepared, locked, copy, transfer));
  }

  private async transferLocked(
    { move, definitions, progress, polled, signal }: Prepared,
    locked: Locked,
    copy: DatabaseCopy,
    transfer: Transfer,
  ): Promise<void> {
    const { project } = move.source;
    const objects = await objectsOf(locked);
    await SourceSnapshot.during(this.owner, project, async (snapshot) => {
      if (!(await snapshot.hasSchema(definitions.schema, definitions.key))) throw schemaChanged();
      if (!definitions.hasLargeObjects && (await snapshot.hasLargeObjects())) throw largeObjectsChanged();
      const fingerprint = await schemaFingerprint(snapshot.client);
      await transfer.finishCopy(snapshot);
      progress.step('switching');
      const mine = [...locked.exempt, ...(transfer.sessions ?? []), await pidOf(snapshot.client)];
      await closeDatabase(locked.admin, project.databaseName, mine);
      await locked.assertHeld();
      await snapshot.leave();
      if ((await schemaFingerprint(snapshot.client)) !== fingerprint) throw schemaChanged();
      if ((await objectsOf(locked)) !== objects) throw largeObjectsChanged();
      await copy.setSequences(snapshot);
      await transfer.leave?.();
      signal.throwIfAborted();
      await this.switch(move, polled, locked.since);
      // The locks are still held: a session that was admitted in between has written nothing, and cannot.
      await endOthers(locked.admin, project.databaseName, mine);
    });
  }

  private async switch({ target, actor }: Move, polled: boolean, since: number): Promise<void> {
    const { id, server, serverUrl } = target.project;
    const writesRefusedMs = Math.round(performance.now() - since);
    const place = { server: server ?? '', serverUrl, polled, writesRefusedMs };
    if (!(await this.moves.switch(id, place, actor))) throw moveInterrupted();
    this.registry.forget(id);
  }
}

/** As in server_version_num. */
async function versionOf({ server }: Place): Promise<number> {
  return server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    return rows[0]?.version ?? 0;
  });
}

const objectsOf = async ({ objects }: Locked): Promise<string> =>
  objects ? largeObjectFingerprint(objects) : '';
