/** Runs the administrator's SQL as the project's owner, with limits on its time and its result. */
import { Injectable, Logger } from '@nestjs/common';
import { DatabaseError, Query, QueryResult } from 'pg';
import { messageOf } from '../common/errors/error-facts';
import { BoundedClient } from '../database/pools/bounded-client';
import { OWNER_WORK_OPTIONS } from '../database/pools/startup-options';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectEntity } from '../projects/project.entity';
import { ProjectRegistry } from '../projects/project-registry.service';
import { RelationAdopter } from '../projects/relation-adopter.service';
import { CatalogService } from '../rest/catalog/catalog.service';
import { sqlFailed, sqlTookTooLong, transactionLeftOpen } from './admin.errors';
import { SqlAnswer } from './admin-records';
import { AnswerKeeper, Row } from './answer-keeper';
import { answerTypeParser } from './answer-types';

/** Milliseconds for statement_timeout to end the SQL with its own error before the session is ended. */
const GRACE_MS = 1_000;

export interface SqlLimits {
  readonly timeoutSeconds: number;
  readonly maxRows: number;
}

@Injectable()
export class OwnerSqlService {
  private readonly logger = new Logger(OwnerSqlService.name);

  constructor(
    private readonly owner: OwnerDatabase,
    private readonly adopter: RelationAdopter,
    private readonly registry: ProjectRegistry,
    private readonly catalogs: CatalogService,
  ) {}

  /**
   * One simple query, which PostgreSQL runs as one transaction unless its text says otherwise. The rows are those of
   * the last statement. Table REST of this process sees the change before the answer is sent.
   * @throws AppError 4xx with the database's fields, after a rollback
   */
  async run(project: ProjectEntity, query: string, limits: SqlLimits): Promise<SqlAnswer> {
    const kept = new AnswerKeeper(limits.maxRows);
    const settings = {
      statement_timeout: limits.timeoutSeconds * 1000,
      types: { getTypeParser: answerTypeParser },
    };
    const answer = await this.owner.use(
      project,
      'the administrator runs SQL as the owner',
      (client) => this.runBounded(project, client, query, limits, kept),
      { ...settings, limits: kept },
    );
    await this.adopter.adopt(project);
    await this.refreshCatalog(project);
    return answer;
  }

  /** The SQL is committed whether or not this works, and the event trigger announces the change as well. */
  private async refreshCatalog({ id, slug }: ProjectEntity): Promise<void> {
    try {
      const project = await this.registry.findById(id);
      if (project) await this.catalogs.refresh(project.database);
    } catch (error) {
      this.logger.warn(`the schema of project ${slug} could not be compared: ${messageOf(error)}`);
    }
  }

  private async runBounded(
    project: ProjectEntity,
    client: BoundedClient,
    query: string,
    limits: SqlLimits,
    kept: AnswerKeeper,
  ): Promise<SqlAnswer> {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    let isOver = false;
    const began = performance.now();
    // SQL may raise its own statement_timeout; then the session is ended.
    const timer = setTimeout(
      () => {
        isOver = true;
        void this.endSession(project, rows[0]?.pid ?? 0);
      },
      limits.timeoutSeconds * 1000 + GRACE_MS,
    );
    try {
      return await collect(client, query, kept);
    } catch (error) {
      if (isOver || isTimeout(error, began, limits)) throw sqlTookTooLong(limits.timeoutSeconds, error);
      throw error instanceof DatabaseError ? sqlFailed(error, query) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async endSession(project: ProjectEntity, pid: number): Promise<void> {
    const end = (client: BoundedClient): Promise<unknown> =>
      client.query('select pg_terminate_backend($1)', [pid]);
    await this.owner
      .use(project, 'SQL that exceeded its time limit is ended', end, { options: OWNER_WORK_OPTIONS })
      .catch((error: unknown) =>
        this.logger.warn(
          `SQL of project ${project.slug} exceeded its time limit and could not be ended: ${String(error)}`,
        ),
      );
  }
}

/**
 * 57014 alone is ambiguous: a timeout set in the SQL and a COPY without data raise it too.
 * @param began by performance.now()
 */
function isTimeout(error: unknown, began: number, { timeoutSeconds }: SqlLimits): boolean {
  const isCancelled = error instanceof DatabaseError && error.code === '57014';
  return isCancelled && performance.now() - began >= timeoutSeconds * 1000;
}

/** Reads all rows and keeps those that the limits allow. */
async function collect(client: BoundedClient, text: string, kept: AnswerKeeper): Promise<SqlAnswer> {
  client.onResults(
    () => kept.begin(),
    () => kept.end(),
  );
  client.on('notice', ({ message }) => kept.addNotice(message));
  const results = await new Promise<QueryResult[]>((resolve, reject) => {
    const query = new Query<Row>(text);
    query.on('row', (row) => kept.add(row));
    query.on('end', (result: QueryResult | QueryResult[]) =>
      resolve(Array.isArray(result) ? result : [result]),
    );
    query.on('error', reject);
    client.query(query);
  });
  if (client.getTransactionStatus() !== 'I') throw transactionLeftOpen();
  const statements = results.map(({ command, rowCount }) => ({
    command: command || null,
    row_count: rowCount,
  }));
  return {
    ...kept.rows,
    ...(statements.at(-1) ?? { command: null, row_count: null }),
    statements,
    notices: kept.notices,
  };
}
