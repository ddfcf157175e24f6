/** Plan and compile: the statements that a request needs on a catalog, without its values. Pure. */
import { SERVICE_ROLE } from '../../projects/project-keys';
import type { ProjectSettings } from '../../projects/project-settings';
import type { RequestBody } from '../body/request-body';
import type { Catalog } from '../catalog/catalog';
import { compileRequest, type CompiledRequest } from '../compile/compile-request';
import type { RestRequest } from '../grammar/rest-request';
import type { Operation } from '../grammar/tree';
import type { RequestPlan } from '../plan/plan';
import type { PlanContext } from '../plan/plan-context';
import { planRoutine } from '../plan/plan-routine';
import { planTableRead, planTableWrite } from '../plan/plan-table';
import { operationsOf } from '../plan/request-shape';
import { resolveRelation, schemaOf } from '../plan/resolve-relation';

/** The part of a caller that a plan depends on. */
export interface PlanScope {
  readonly role: string;
  readonly project: { readonly settings: ProjectSettings };
}

/** Serves every request of the same shape. */
export interface CompiledPlan {
  /** The values in it are those of the request that it was made for. */
  readonly plan: RequestPlan;
  readonly compiled: CompiledRequest;
  /** The schema in which names without one are looked up. */
  readonly schema: string;
  /** The same where the project exposes several, for Content-Profile; null where there is no choice. */
  readonly profile: string | null;
  /** The plan's operations, with their places in operationsOf() any request of the shape. */
  readonly slots: ReadonlyMap<Operation, number>;
}

/**
 * @param printsRows as CompileInput
 * @throws AppError for unknown columns, tables and functions
 */
export function compilePlan(
  scope: PlanScope,
  catalog: Catalog,
  request: RestRequest,
  body: RequestBody | null,
  printsRows: boolean,
): CompiledPlan {
  const context = contextOf(scope, request, catalog);
  const { plan, schema } = planned(context, scope, request, body);
  return {
    plan,
    schema,
    profile: context.exposedSchemas.length > 1 ? schema : null,
    compiled: compileRequest(plan, {
      catalogVersion: catalog.version,
      bodyIsList: body?.payload?.isList ?? false,
      printsRows,
    }),
    slots: new Map(operationsOf(request.query).map((operation, index) => [operation, index])),
  };
}

export function contextOf({ project, role }: PlanScope, request: RestRequest, catalog: Catalog): PlanContext {
  // Accounts, sessions and tokens are never exposed, whatever the project's settings say.
  const exposedSchemas = project.settings.exposed_schemas.filter((schema) => schema !== 'auth');
  return {
    catalog,
    schema: schemaOf(request, exposedSchemas),
    exposedSchemas,
    extraSearchPath: project.settings.extra_search_path,
    maxRows: project.settings.max_rows,
    role,
  };
}

function planned(
  context: PlanContext,
  { project, role }: PlanScope,
  request: RestRequest,
  body: RequestBody | null,
): { plan: RequestPlan; schema: string } {
  // EXPLAIN names the tables behind policies, views and functions, which only the service role may know.
  const options = { planEnabled: project.settings.plan_enabled && role === SERVICE_ROLE };
  if (request.kind === 'rpc') {
    const { plan, schema } = planRoutine(context, request, body, options);
    return { plan, schema };
  }
  const found = resolveRelation(context, request.target);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const plan = isRead
    ? planTableRead(found.context, found.relation, request, options)
    : planTableWrite(found.context, found.relation, request, body?.payload ?? null, options);
  return { plan, schema: found.context.schema };
}
