/** Applies a project's own migrations, in order, each once, one run at a time. */
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { codeOf } from '../common/errors/error-facts';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { LOCK_NOT_AVAILABLE } from '../database/sql/sqlstate';
import { Actor, AuditLogRepository } from '../install/audit/audit-log.repository';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectEntity } from '../projects/project.entity';
import { ProjectsService } from '../projects/projects.service';
import { sqlAbandoned } from '../sql/sql.errors';
import { SchemaChangeService } from '../sql/schema-change.service';
import { WholeRequests } from '../admission/whole-requests.service';
import { SessionDeadline } from '../sql/session-deadline.service';
import {
  migrationChanged,
  migrationOutOfOrder,
  migrationsLocked,
  migrationsUnordered,
} from './migration.errors';
import { AppliedMigration, MigrationLedger } from './migration-ledger.repository';
import { MigrationInput, MigrationScript, readMigrations } from './migration-script';
import { MigrationOutput, MigrationSession } from './migration-session';

export interface MigrationOptions {
  /** Runs the pending migrations in one transaction that is rolled back. */
  readonly dryRun: boolean;
  /** Allows a migration whose version is before that of an applied migration. */
  readonly outOfOrder: boolean;
  /** Seconds for each migration. */
  readonly timeoutSeconds: number;
  /** Seconds to wait for another run to end. */
  readonly lockTimeoutSeconds: number;
  /**
   * Aborted when the client disconnects: a dry run is cancelled; otherwise the running migration is
   * completed, and no other is begun.
   */
  readonly abandoned?: AbortSignal;
}

interface MigrationResult extends Pick<MigrationScript, 'version' | 'name'> {
  readonly milliseconds: number;
  readonly notices: readonly string[];
}

export interface MigrationRun {
  readonly applied: readonly MigrationResult[];
  /** Versions that were applied before. */
  readonly skipped: readonly string[];
  /** Versions that were not tried, because a dry run stops before the first migration without a transaction. */
  readonly untried: readonly string[];
}

const LIST_TIMEOUT_MS = 30_000;
/** Application name of the sessions, for the activity of the project's database. */
const SESSION_NAME = 'plinth-migrate';

@Injectable()
export class ProjectMigrationsService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly owner: OwnerDatabase,
    private readonly ledger: MigrationLedger,
    private readonly deadline: SessionDeadline,
    private readonly schemaChange: SchemaChangeService,
    private readonly admission: WholeRequests,
    private readonly audit: AuditLogRepository,
  ) {}

  async list(id: string): Promise<AppliedMigration[]> {
    const project = await this.projects.get(id);
    const settings = { options: OWNER_WORK_OPTIONS, statement_timeout: LIST_TIMEOUT_MS };
    const list = (client: BoundedClient): Promise<AppliedMigration[]> => this.ledger.list(client);
    return this.owner.use(project, 'the administrator lists migrations', list, settings);
  }

  /**
   * Applies the migrations that are not recorded yet. A failed migration is rolled back, and earlier ones stay applied.
   * @throws AppError 400 for SQL that fails; 409 for a changed or belated migration, and when another run takes too long
   */
  runMigrations(
    id: string,
    inputs: readonly MigrationInput[],
    options: MigrationOptions,
    actor: Actor,
  ): Promise<MigrationRun> {
    const length = inputs.reduce((sum, { sql }) => sum + sql.length, 0);
    const work = (): Promise<MigrationRun> => this.runAdmitted(id, inputs, options, actor);
    return this.admission.runScript(id, length, work, options.abandoned);
  }

  private async runAdmitted(
    id: string,
    inputs: readonly MigrationInput[],
    options: MigrationOptions,
    actor: Actor,
  ): Promise<MigrationRun> {
    const migrations = await readMigrations(inputs);
    const isOrdered = migrations.every((one, n) => n === 0 || number(one) > number(migrations[n - 1] ?? one));
    if (!isOrdered) throw migrationsUnordered();
    const project = await this.projects.get(id);
    const run = await this.whileLocked(project, options, async (client) => {
      const recorded = await this.ledger.list(client);
      const pending = pendingOf(migrations, recorded, options);
      const skipped = migrations.filter((one) => !pending.includes(one)).map(({ version }) => version);
      if (options.dryRun) return { ...(await this.rehearse(project, pending, options)), skipped };
      return { applied: await this.apply(project, pending, options, actor), skipped, untried: [] };
    });
    await this.schemaChange.follow(project);
    return run;
  }

  /** The lock has its own session, because the SQL of a migration could release it. */
  private async whileLocked<T>(
    project: ProjectEntity,
    { dryRun, lockTimeoutSeconds, abandoned }: MigrationOptions,
    work: (client: BoundedClient) => Promise<T>,
  ): Promise<T> {
    // OWNER_WORK_OPTIONS sets lock_timeout too, and would take precedence.
    const lock = async (client: BoundedClient): Promise<T> => {
      await client.query(`select set_config('lock_timeout', $1, false)`, [`${lockTimeoutSeconds}s`]);
      try {
        await this.ledger.lock(client);
        if (!dryRun) await this.ledger.prepare(client);
      } catch (error) {
        throw codeOf(error) === LOCK_NOT_AVAILABLE ? migrationsLocked(lockTimeoutSeconds, error) : error;
      }
      if (abandoned?.aborted) throw sqlAbandoned();
      return work(client);
    };
    return this.owner.use(project, 'only one run of the migrations at a time', lock, {
      options: OWNER_WORK_OPTIONS,
      application_name: SESSION_NAME,
    });
  }

  private async apply(
    project: ProjectEntity,
    pending: readonly MigrationScript[],
    { timeoutSeconds, abandoned }: MigrationOptions,
    actor: Actor,
  ): Promise<MigrationResult[]> {
    const applied: MigrationResult[] = [];
    for (const migration of pending) {
      if (abandoned?.aborted) throw sqlAbandoned();
      const { version, name, sha256 } = migration;
      const note = (outcome: Record<string, string>): Promise<void> =>
        this.audit.write({
          action: 'project.migrate',
          actor,
          projectId: project.id,
          details: { version, name, sha256, ...outcome },
        });
      const began = performance.now();
      try {
        const notices = await this.inSession(project, timeoutSeconds, (session) => session.apply(migration));
        await note({});
        applied.push({ version, name, milliseconds: Math.round(performance.now() - began), notices });
      } catch (error) {
        await note({ failed: error instanceof AppError ? error.code : 'internal_error' });
        throw error;
      }
    }
    return applied;
  }

  private async rehearse(
    project: ProjectEntity,
    pending: readonly MigrationScript[],
    { timeoutSeconds, abandoned }: MigrationOptions,
  ): Promise<Omit<MigrationRun, 'skipped'>> {
    const end = pending.findIndex(({ inTransaction }) => !inTransaction);
    const tried = end < 0 ? pending : pending.slice(0, end);
    await this.inSession(project, timeoutSeconds, (session) => session.rehearse(tried), abandoned);
    return {
      applied: tried.map(({ version, name }) => ({ version, name, milliseconds: 0, notices: [] })),
      untried: pending.slice(tried.length).map(({ version }) => version),
    };
  }

  /** Uses a separate session for each migration, so that settings do not carry over to the next. @returns the notices */
  private async inSession(
    project: ProjectEntity,
    timeoutSeconds: number,
    work: (session: MigrationSession) => Promise<void>,
    abandoned?: AbortSignal,
  ): Promise<readonly string[]> {
    const output = new MigrationOutput();
    const use = (client: BoundedClient): Promise<void> =>
      this.deadline.runUntilDeadline(
        project,
        client,
        timeoutSeconds,
        () => work(new MigrationSession(client, output, this.ledger, abandoned)),
        abandoned,
      );
    const settings = {
      statement_timeout: timeoutSeconds * 1000,
      application_name: SESSION_NAME,
      limits: output,
    };
    await this.owner.use(project, "the administrator runs the project's migrations", use, settings);
    return output.notices;
  }
}

/** @throws AppError 409 */
function pendingOf(
  migrations: readonly MigrationScript[],
  recorded: readonly AppliedMigration[],
  { outOfOrder }: MigrationOptions,
): MigrationScript[] {
  const byVersion = new Map(recorded.map((one) => [number(one), one]));
  const changed = migrations.find((one) => (byVersion.get(number(one))?.sha256 ?? one.sha256) !== one.sha256);
  if (changed) throw migrationChanged(changed);
  const pending = migrations.filter((one) => !byVersion.has(number(one)));
  const newest = recorded.at(-1);
  const belated = newest && pending.find((one) => number(one) < number(newest));
  if (belated && !outOfOrder) throw migrationOutOfOrder(belated, newest.version);
  return pending;
}

const number = ({ version }: { readonly version: string }): bigint => BigInt(version);
