/** Plans and compiles: gives the statements that a request needs on a catalog, without its values. Pure. */
import { SERVICE_ROLE } from '../../projects/project-keys';
import type { ProjectSettings } from '../../projects/project-settings';
import type { RequestBody } from '../body/request-body';
import type { Catalog } from '../catalog/catalog';
import { compileRequest } from '../compile/compile-request';
import type { CompiledRequest } from '../compile/compiled-statement';
import type { RequestShape } from '../grammar/rest-request';
import type { RequestPlan } from '../plan/plan';
import { type PlanContext, resolveRelation, schemaOf } from '../plan/plan-context';
import { planRoutine } from '../plan/plan-routine';
import { planTableRead, planTableWrite } from '../plan/plan-table';
import type { Payload } from '../body/payload';
import { LRUCache } from 'lru-cache';

/** The part of a caller that a plan depends on. */
export interface PlanScope {
  readonly role: string;
  readonly project: { readonly revision: string; readonly settings: ProjectSettings };
}

/** Serves every request of the same shape, for all callers: it contains no values of a request. */
export interface CompiledPlan {
  readonly plan: RequestPlan;
  readonly compiled: CompiledRequest;
  /** The schema in which names without a schema are searched. */
  readonly schema: string;
  /** The schema that Content-Profile names if the project exposes several; null if it exposes only one. */
  readonly profile: string | null;
}

/**
 * @param printsRows as CompileInput
 * @throws AppError for unknown columns, tables and functions
 */
export function compilePlan(
  scope: PlanScope,
  catalog: Catalog,
  shape: RequestShape,
  body: RequestBody | null,
  printsRows: boolean,
): CompiledPlan {
  const context = contextOf(scope, shape, catalog);
  const { plan, schema } = planned(context, scope, shape, body);
  return {
    plan,
    schema,
    profile: context.exposedSchemas.length > 1 ? schema : null,
    compiled: compileRequest(plan, {
      catalogVersion: catalog.version,
      bodyIsList: body?.payload?.isList ?? false,
      printsRows,
    }),
  };
}

export function contextOf({ project, role }: PlanScope, shape: RequestShape, catalog: Catalog): PlanContext {
  // Accounts, sessions and tokens are never exposed, whatever the project's settings say.
  const exposedSchemas = project.settings.exposed_schemas.filter((schema) => schema !== 'auth');
  return {
    catalog,
    schema: schemaOf(shape, exposedSchemas),
    exposedSchemas,
    extraSearchPath: project.settings.extra_search_path,
    maxRows: project.settings.max_rows,
    role,
  };
}

function planned(
  context: PlanContext,
  { project, role }: PlanScope,
  shape: RequestShape,
  body: RequestBody | null,
): { plan: RequestPlan; schema: string } {
  // EXPLAIN names the tables behind policies, views and functions, which only the service role may know.
  const options = { planEnabled: project.settings.plan_enabled && role === SERVICE_ROLE };
  if (shape.kind === 'rpc') {
    const { plan, schema } = planRoutine(context, shape, body, options);
    return { plan, schema };
  }
  const found = resolveRelation(context, shape.target);
  const isRead = shape.method === 'GET' || shape.method === 'HEAD';
  const plan = isRead
    ? planTableRead(found.context, found.relation, shape, options)
    : planTableWrite(found.context, found.relation, shape, body?.payload ?? null, options);
  return { plan, schema: found.context.schema };
}

/** Separates parts; no part contains it. */
const END = '\0';

/**
 * The key of a request to a table.
 * @param payload null if there is none
 * @returns null for a body whose rows name different columns: its plan depends on the individual rows
 */
export function planKey(shape: RequestShape, payload: Payload | null): string | null {
  const body = payload === null ? '' : bodyKey(payload);
  if (body === null) return null;
  const { method, target, window, preferences, accept, profile } = shape;
  return [
    method,
    target.text,
    profile ?? '',
    `${window.limit},${window.offset}`,
    `${preferences.return},${preferences.resolution},${preferences.missing},${preferences.count}`,
    JSON.stringify(accept),
    body,
    shape.query.text,
  ].join(END);
}

/** The columns that the rows name, and the number of rows as far as it affects the plan. */
function bodyKey({ isList, rows }: Payload): string | null {
  const [names, ...others] = rows.shapes;
  if (!names) return '[]';
  if (others.length > 0) return null;
  // Rows written by one program name their columns in the same order; another order gives another key.
  return `${isList ? '[' : ''}${rows.count > 1 ? 'n' : '1'}${JSON.stringify(names)}`;
}

/** Maximum number of plans of all projects together; each takes a few kilobytes. */
const PLAN_CACHE_SIZE = 2_000;
/** Maximum characters of a query, without its values, whose plan is kept: longer queries are rarely repeated. */
const MAX_QUERY_LENGTH = 2_000;

/** Maximum characters of a key, which contains the names of the body's columns: a client chooses them. */
const MAX_KEY_LENGTH = 8_000;

interface Kept {
  readonly plan: CompiledPlan;
  /** Revision of the project, whose settings are part of a plan. */
  readonly revision: string;
}

/**
 * Keeps plans: planning and building SQL costs more than all other work on a small request, and most requests
 * differ in values only.
 */
export class CompiledPlanCache {
  private readonly kept = new LRUCache<string, Kept>({ max: PLAN_CACHE_SIZE });
  /**
   * A catalog is never changed but replaced, and each catalog has a number, so plans of an old catalog are
   * not found any more.
   */
  private readonly numbers = new WeakMap<Catalog, number>();
  private catalogs = 0;

  /** The plan of an earlier request of the same shape, or else a new plan. @throws AppError as compilePlan() */
  of(scope: PlanScope, catalog: Catalog, shape: RequestShape, body: RequestBody | null): CompiledPlan {
    const { project, role } = scope;
    const ofShape = shape.kind === 'table' ? planKey(shape, body?.payload ?? null) : null;
    if (ofShape === null || ofShape.length > MAX_KEY_LENGTH)
      return compilePlan(scope, catalog, shape, body, true);
    const key = `${this.numberOf(catalog)}\0${role}\0${ofShape}`;
    const found = this.kept.get(key);
    if (found?.revision === project.revision) return found.plan;
    const plan = compilePlan(scope, catalog, shape, body, true);
    if (shape.query.text.length <= MAX_QUERY_LENGTH) this.kept.set(key, { plan, revision: project.revision });
    return plan;
  }

  private numberOf(catalog: Catalog): number {
    let number = this.numbers.get(catalog);
    if (number === undefined) this.numbers.set(catalog, (number = this.catalogs += 1));
    return number;
  }
}
