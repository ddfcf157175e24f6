/**
 * Reads a project's schema from pg_catalog in one round trip of a few set-based queries. It runs as the login role:
 * pg_catalog is readable for every role, so the result doesn't depend on grants.
 */
import { Injectable } from '@nestjs/common';
import type { Statement } from '../../database/statement';
import { eachRow } from '../../pg-pipeline';
import { ProjectDatabase } from '../../database/pools/project-database';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { CatalogRows, ViewRow } from './catalog-rows';
import type { CodeTraits } from './catalog';
import {
  ANNOUNCES,
  FINGERPRINT,
  CONSTRAINTS,
  RELATIONS,
  VIEWS,
  REVEALING,
  ROLES,
  WITHHELD,
  HANDLERS,
  REPRESENTATIONS,
  ROUTINES,
  TRAITS,
  QUALIFY_NAMES,
} from './catalog-queries';
import { parseViewOrigins } from './view-origins';

const REASON = 'the schema itself is read, not data';

/** Maximum bytes of all rows that are kept; a thousand tables take about one million. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of all views' parsed queries, which are read one by one and not kept. */
const MAX_ACTIONS = 256 * 1024 * 1024;

/** The queries whose rows are kept. */
const QUERIES = {
  fingerprint: FINGERPRINT,
  announces: ANNOUNCES,
  relations: RELATIONS,
  constraints: CONSTRAINTS,
  routines: ROUTINES,
  handlers: HANDLERS,
  representations: REPRESENTATIONS,
  roles: ROLES,
  withheld: WITHHELD,
  revealing: REVEALING,
};

/** The rows of each query, by its name. */
type QueriedRows = Pick<CatalogRows, Exclude<keyof typeof QUERIES, 'fingerprint' | 'announces'>> & {
  readonly fingerprint: readonly { readonly fingerprint: string }[];
  readonly announces: readonly { readonly announces_ddl: boolean }[];
};

/**
 * Printing a view locks its tables, and then other views. DDL that has locked such a view and needs a table would end in a
 * deadlock, so this transaction gives up before PostgreSQL looks for one.
 */
const GIVE_WAY = `select set_config('lock_timeout', '100ms', true)`;

/** If it is not known what code does, it is assumed to do anything: requests then send statements that may be unnecessary. */
const UNKNOWN_TRAITS: CodeTraits = { setsResponse: true, readsRequest: true, leavesLocks: true };

@Injectable()
export class CatalogRepository {
  constructor(private readonly door: RlsTransaction) {}

  /**
   * Reads everything in one round trip with one snapshot, so that a function's row type is among the tables read.
   * @param onBegin called before the snapshot is taken
   */
  async read(database: ProjectDatabase, onBegin?: () => void): Promise<CatalogRows> {
    const views: ViewRow[] = [];
    const takeViews: Statement = {
      text: VIEWS,
      sink: eachRow(([oid, action]) => views.push([String(oid), parseViewOrigins(String(action))])),
      maxBytes: MAX_ACTIONS,
    };
    const collected = Object.values(QUERIES).map((text) => ({ text, maxBytes: MAX_BYTES }));
    const statements = [{ text: QUALIFY_NAMES }, ...collected, takeViews];
    const [, ...results] = await this.door.systemSnapshot(database, REASON, statements, onBegin);
    const named = Object.keys(QUERIES).map((name, at) => [name, results[at]?.rows ?? []] as const);
    const { fingerprint, announces, ...rows } = Object.fromEntries(named) as unknown as QueriedRows;
    return {
      ...rows,
      ...UNKNOWN_TRAITS,
      fingerprint: fingerprint[0]?.fingerprint ?? '',
      announcesDdl: announces[0]?.announces_ddl ?? false,
      views,
    };
  }

  /**
   * Finds out what the code in the database may do by searching all of it. Requests take precedence.
   * @throws DatabaseFault no_free_connection when the project has no connection
   */
  async readTraits(database: ProjectDatabase): Promise<CodeTraits> {
    const found = await this.door.systemAside(database, REASON, [
      { text: QUALIFY_NAMES },
      { text: GIVE_WAY },
      { text: TRAITS, maxBytes: MAX_BYTES },
    ]);
    const [row] = (found[2]?.rows ?? []) as Partial<Record<string, boolean>>[];
    return {
      setsResponse: row?.sets_response ?? true,
      readsRequest: row?.reads_request ?? true,
      leavesLocks: row?.leaves_locks ?? true,
    };
  }

  /** A value that is cheap to read, and that changes if anything changed since a catalog was read. */
  async fingerprint(database: ProjectDatabase): Promise<string> {
    const { rows } = await this.door.systemQuery(database, REASON, {
      name: 'rest:fingerprint',
      text: FINGERPRINT,
    });
    return String(rows[0]?.fingerprint ?? '');
  }
}
