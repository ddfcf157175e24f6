/** `GET /rest/v1/<table>` with `Accept: text/event-stream`: the rows, then their changes, for as long as the caller's session lasts. */
import type { Server } from 'node:http';
import { Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Response } from 'express';
import type { Caller } from '../../access/caller';
import { AppError } from '../../common/errors/app-error';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { statementTimeout } from '../../projects/project-settings';
import { eachRow } from '../../pg-pipeline';
import { CatalogService } from '../../rest/catalog/catalog.service';
import type { Catalog, Relation } from '../../rest/catalog/catalog';
import { bindRequest } from '../../rest/compile/compiled-statement';
import type { RawRestRequest } from '../../rest/grammar/rest-request';
import { parseRestRequest } from '../../rest/grammar/parse-rest-request';
import { TableStreams } from '../../rest/http/table-streams';
import { resolveRelation } from '../../rest/plan/plan-context';
import { compilePlan, contextOf } from '../../rest/prepare/compiled-plan';
import { requestValues } from '../../rest/prepare/prepared-request';
import { ChangeFeed } from '../change-feed';
import { badSubscription } from '../changes.errors';
import { readRights, settingsFor } from '../table-rights';
import { ChangeEvents } from './change-events';
import { StreamSessions } from './stream-sessions.service';

/** Streams of a project in a process. */
const MAX_STREAMS = 200;
/** Bytes of the rows before the changes. */
const MAX_ROWS = 16 * 1024 * 1024;
/** Parameters that choose among the rows at the beginning, but not among changes. */
const OF_ROWS = new Set(['order', 'limit', 'offset']);

@Injectable()
export class TableEvents implements OnApplicationBootstrap {
  private readonly streams = new Map<string, Set<ChangeEvents>>();
  private isEnding = false;

  constructor(
    private readonly feed: ChangeFeed,
    private readonly door: RlsTransaction,
    private readonly catalogs: CatalogService,
    private readonly tables: TableStreams,
    private readonly sessions: StreamSessions,
    private readonly host: HttpAdapterHost,
  ) {}

  onApplicationBootstrap(): void {
    this.tables.register((caller, raw, response) => this.open(caller, raw, response));
    (this.host.httpAdapter.getHttpServer() as Server).on('draining', () => this.endAll());
  }

  /** Clients connect again to another process; otherwise the server would wait for these responses. */
  private endAll(): void {
    this.isEnding = true;
    for (const streams of this.streams.values()) {
      for (const events of streams) if (events.isBegun) events.end();
    }
  }

  private async open(caller: Caller, raw: RawRestRequest, response: Response): Promise<void> {
    const { ['last-event-id']: last, ...headers } = raw.headers;
    const asRead = { ...raw, headers: { ...headers, accept: 'application/json' } };
    const parsed = parseRestRequest(asRead);
    if (parsed.shape.query.selectGiven)
      throw badSubscription('A stream of changes has all columns: leave select out');
    const catalog = await this.catalogs.verified(caller.database);
    const { relation } = resolveRelation(contextOf(caller, parsed.shape, catalog), parsed.shape.target);
    const ofProject = this.streams.get(caller.project.id) ?? new Set();
    if (ofProject.size >= MAX_STREAMS) throw tooManyStreams();
    const events = new ChangeEvents(response);
    ofProject.add(events);
    this.streams.set(caller.project.id, ofProject);
    const forget = (): void => {
      ofProject.delete(events);
      if (ofProject.size === 0) this.streams.delete(caller.project.id);
    };
    try {
      const isResumed = typeof last === 'string' && last !== '';
      const subscription = await this.feed.subscribe(
        {
          caller,
          schema: relation.schema,
          table: relation.name,
          event: '*',
          filter: filtersOf(raw.queryString),
          isQuery: true,
          position: isResumed ? last : undefined,
        },
        events,
      );
      let unwatch = (): void => undefined;
      const release = (): void => {
        subscription.close();
        unwatch();
        forget();
      };
      if (response.destroyed) return release();
      try {
        const rows = isResumed ? [] : await this.readRows(caller, asRead, catalog, relation);
        events.begin(release);
        unwatch = this.sessions.watch(caller, response.req, (message) =>
          events.refuse('session_ended', message),
        );
        for (const row of rows) await events.sendRow(row);
        events.release();
        if (this.isEnding) events.end();
      } catch (error) {
        release();
        throw error;
      }
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** The columns that the caller may read, as table REST prints them. */
  private async readRows(
    caller: Caller,
    raw: RawRestRequest,
    catalog: Catalog,
    { schema, name }: Relation,
  ): Promise<Buffer[]> {
    const rights = await readRights(this.door, caller, schema, name);
    const readable = rights?.columns.filter(({ isReadable }) => isReadable) ?? [];
    const names = readable.map((column) =>
      encodeURIComponent(`"${column.name.replaceAll(/["\\]/g, '\\$&')}"`),
    );
    const select = readable.length === rights?.columns.length ? '' : `&select=${names.join(',')}`;
    const { shape, values } = parseRestRequest({ ...raw, queryString: raw.queryString + select });
    const { compiled } = compilePlan(caller, catalog, shape, null, false);
    const { main } = bindRequest(compiled, requestValues(values, null));
    const rows: Buffer[] = [];
    const sink = eachRow(([row]) => void rows.push(Buffer.from(row ?? 'null')));
    const statements = main.map(({ text, values: own }) => ({ text, values: own, sink, maxBytes: MAX_ROWS }));
    const timeout = String(statementTimeout(caller.project.settings, caller.role));
    await this.door.batch(caller, statements, { ...settingsFor(caller, schema), statement_timeout: timeout });
    return rows;
  }
}

function filtersOf(queryString: string): string {
  return queryString
    .split('&')
    .filter((part) => part !== '' && !OF_ROWS.has(part.split('=')[0] ?? ''))
    .join('&');
}

const tooManyStreams = (): AppError =>
  new AppError(
    429,
    'too_many_streams',
    `The project has ${MAX_STREAMS} streams of changes, which is the limit`,
    { headers: { 'Retry-After': '5' } },
  );
