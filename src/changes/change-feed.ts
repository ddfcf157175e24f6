/** Changes of projects' tables for callers who may read the rows: `subscribe()` for sockets and server-sent events. */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Caller } from '../access/caller';
import { AppError } from '../common/errors/app-error';
import { messageOf } from '../common/errors/error-facts';
import { SERVER_CONFIG, type ServerConfig } from '../config/app-config';
import { RlsTransaction } from '../database/rls/rls-transaction';
import { Metrics } from '../infra/metrics/metrics';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectRepository } from '../projects/project.repository';
import { ProjectsService } from '../projects/projects.service';
import type { Project } from '../projects/project';
import type { ChangedRelation, ChangeEvent, ChangeListener, Subscriber } from './change';
import { type ChangeFilter, filterOf, parseChangeFilter } from './change-filter';
import { badSubscription, notReadable, tableNotLive, tooManySubscriptions } from './changes.errors';
import { FeedSlots } from './feed-slots';
import { FeedSweep } from './feed-sweep.service';
import { parsePosition, upTo } from './position';
import { ProjectFeed } from './project-feed';
import { RowCheck } from './row-check.service';
import { hiddenColumn, isPublished, readRights, TOO_LONG } from './table-rights';

export interface ChangeSubscription {
  readonly caller: Caller;
  /** `*`: all exposed schemas. */
  readonly schema: string;
  /** `*` or undefined: all tables of the schema. */
  readonly table: string | undefined;
  readonly event: ChangeEvent;
  /** In Supabase's syntax, or as the query of a URL. */
  readonly filter: string | undefined;
  readonly isQuery?: boolean;
  /** Position of the last message before the connection was lost. */
  readonly position?: string;
  /** A subscription that this one replaces, and continues. The caller closes it. */
  readonly former?: ChangeFeedHandle | null;
}

export interface ChangeFeedHandle {
  readonly subscriber: Subscriber;
  close(): void;
}

/** Subscriptions of a project in a process. */
const MAX_SUBSCRIPTIONS = 20_000;
const MAX_ID = 0x7fff_ffff;
const ALL = '*';

@Injectable()
export class ChangeFeed implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ChangeFeed.name);
  private readonly feeds = new Map<string, { readonly feed: ProjectFeed; readonly place: string }>();
  private lastId = 0;

  constructor(
    private readonly door: RlsTransaction,
    private readonly check: RowCheck,
    private readonly registry: ProjectRegistry,
    private readonly repository: ProjectRepository,
    private readonly projects: ProjectsService,
    private readonly sweep: FeedSweep,
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
    metrics: Metrics,
  ) {
    const sum = (read: (feed: ProjectFeed) => number) => () =>
      [...this.feeds.values()].reduce((total, { feed }) => total + read(feed), 0);
    metrics.gauge('plinth_change_feeds', 'Projects whose changes this process reads', () => this.feeds.size);
    metrics.gauge(
      'plinth_change_subscriptions',
      'Subscriptions to changes',
      sum(({ subscribers }) => subscribers),
    );
    metrics.gauge(
      'plinth_change_messages',
      'Messages delivered by the open feeds',
      sum(({ delivered }) => delivered),
    );
    metrics.gauge(
      'plinth_change_kept_log_bytes',
      'Log that database servers keep for feeds',
      sum(({ kept }) => kept),
    );
    metrics.gauge(
      'plinth_change_lag_bytes',
      'Log that feeds have not read yet',
      sum(({ lag }) => lag),
    );
  }

  onApplicationBootstrap(): void {
    this.registry.onChange((id) => void this.onProjectChange(id));
    this.sweep.start(this.config.changeLogMs);
  }

  async onApplicationShutdown(): Promise<void> {
    const gap = { reason: 'unavailable', message: 'The server is stopping', ended: true } as const;
    // The log is kept for a minute, so that clients can continue at another process.
    await Promise.all([...this.feeds.values()].map(({ feed }) => feed.close(gap, false)));
    this.feeds.clear();
  }

  /**
   * Resolves once the subscription is active: every later commit is delivered.
   * @throws AppError 400 for an invalid filter, 403, 404 for a table that is not live, 503 when the server cannot stream changes
   */
  async subscribe(given: ChangeSubscription, listener: ChangeListener): Promise<ChangeFeedHandle> {
    return (await this.prepare(given, listener))();
  }

  /**
   * Checks a subscription as subscribe() does.
   * @returns a function that begins the subscription; no change is delivered before the function resolves
   */
  async prepare(
    given: ChangeSubscription,
    listener: ChangeListener,
  ): Promise<() => Promise<ChangeFeedHandle>> {
    const { caller, schema, event, former } = given;
    const table = given.table === undefined || given.table === ALL ? null : given.table;
    const filter = filterIn(given);
    if (schema !== ALL && !exposes(caller.project, schema)) throw tableNotLive(schema, table ?? ALL);
    if (filter && (table === null || schema === ALL)) throw badSubscription('A filter needs a table');
    const position = given.position === undefined ? null : parsePosition(given.position);
    if (given.position !== undefined && !position) throw badSubscription('position is not one of a message');
    if (table !== null && schema !== ALL) await this.assertReadable(caller, { schema, table }, filter);
    return async () => {
      const feed = await this.feedOf(caller.project);
      if (feed.subscribers >= MAX_SUBSCRIPTIONS) throw tooManySubscriptions(MAX_SUBSCRIPTIONS);
      this.lastId = (this.lastId % MAX_ID) + 1;
      const subscriber: Subscriber = {
        id: this.lastId,
        caller,
        schema,
        table,
        event,
        filter,
        listener,
        after: position ?? upTo(0n),
        hasBegun: position !== null,
        isClosed: false,
      };
      await feed.add(subscriber, former?.subscriber);
      return { subscriber, close: () => feed.remove(subscriber) };
    };
  }

  private async assertReadable(
    caller: Caller,
    { schema, table }: { readonly schema: string; readonly table: string },
    filter: ChangeFilter | null,
  ): Promise<void> {
    const rights = await readRights(this.door, caller, schema, table);
    if (!rights || rights.isPartition || !(await isPublished(this.door, caller, schema, table)))
      throw tableNotLive(schema, table);
    const readable = new Set(rights.columns.filter(({ isReadable }) => isReadable).map(({ name }) => name));
    if (!rights.isReachable || readable.size === 0) throw notReadable(schema, table);
    if (rights.isSecured && rights.policies === TOO_LONG)
      throw badSubscription('The policies of the table are too long');
    if (!filter) return;
    if (hiddenColumn(rights, filter) !== undefined) throw notReadable(schema, table);
    const columns = rights.columns.map(({ name }) => name);
    const relation: ChangedRelation = {
      kind: 'relation',
      id: rights.id,
      schema,
      name: table,
      columns,
      keys: [],
      isFull: false,
    };
    await this.check.try(caller, rights, relation, filter).catch((error: unknown) => {
      throw error instanceof AppError
        ? error
        : badSubscription(`The filter is not valid: ${messageOf(error)}`, error);
    });
  }

  private async feedOf(project: Project): Promise<ProjectFeed> {
    const known = this.feeds.get(project.id);
    if (known && known.place === placeOf(project)) return known.feed;
    const row = await this.repository.findActive({ id: project.id });
    if (!row) throw tableNotLive('', '');
    const opened = this.feeds.get(project.id);
    if (opened && opened.place === placeOf(project)) return opened.feed;
    const server = this.projects.serverOf(row.project);
    const feed: ProjectFeed = new ProjectFeed({
      slots: new FeedSlots(server, row.project.databaseName, project.id, this.config.changeLogBytes),
      door: this.door,
      check: this.check,
      logger: this.logger,
      keptMs: this.config.changeLogMs,
      maxKept: this.config.changeLogBytes,
      exposes: (schema) => exposes(this.registry.peek(project.id) ?? project, schema),
      onUnused: () => {
        if (this.feeds.get(project.id)?.feed === feed) this.feeds.delete(project.id);
      },
    });
    this.feeds.set(project.id, { feed, place: placeOf(project) });
    return feed;
  }

  /** Stops following a project that was deleted, paused or moved. */
  private async onProjectChange(id: string): Promise<void> {
    const known = this.feeds.get(id);
    if (!known) return;
    try {
      const project = await this.registry.findById(id);
      if (project && !project.database.isPaused && placeOf(project) === known.place) return;
      this.feeds.delete(id);
      const gap = {
        reason: 'unavailable',
        message: 'The project was moved, paused or deleted',
        ended: true,
      } as const;
      await known.feed.close(gap, true);
    } catch (error) {
      this.logger.warn(`the feed of project ${id} could not be closed: ${messageOf(error)}`);
    }
  }
}

function filterIn({ filter, isQuery }: ChangeSubscription): ChangeFilter | null {
  if (filter === undefined || filter === '') return null;
  const parsed = isQuery ? filterOf(filter) : parseChangeFilter(filter);
  return parsed.trees.length === 0 ? null : parsed;
}

/** Accounts, sessions and tokens are never exposed, regardless of the project's settings. */
function exposes({ settings }: Project, schema: string): boolean {
  return schema !== 'auth' && settings.exposed_schemas.includes(schema);
}

function placeOf({ database: { host, port, database } }: Project): string {
  return `${host}:${port}/${database}`;
}
