/** Plan and compile: what a request comes to on a catalog, apart from the values in it. Pure. */
import { SERVICE_ROLE } from '../projects/project-keys';
import type { ProjectSettings } from '../projects/project-settings';
import type { GivenBody } from './body/given-body';
import type { Catalog } from './catalog/catalog';
import { compileRequest, type CompiledRequest } from './compile/compile-request';
import type { RestRequest } from './grammar/rest-request';
import type { Operation } from './grammar/tree';
import type { RequestPlan } from './plan/plan';
import type { PlanContext } from './plan/plan-context';
import { planRoutine } from './plan/plan-routine';
import { planTableRead, planTableWrite } from './plan/plan-table';
import { operationsOf } from './plan/request-shape';
import { resolveTarget, schemaOf } from './plan/target';

/** What of a caller has a say in a plan. */
export interface Asker {
  readonly role: string;
  readonly project: { readonly revision: string; readonly settings: ProjectSettings };
}

/** Serves every request of the same shape. */
export interface PreparedRequest {
  /** The values in it are those of the request that it was made for. */
  readonly plan: RequestPlan;
  readonly compiled: CompiledRequest;
  /** The schema that names without one are looked up in. */
  readonly schema: string;
  /** The same where the project exposes several, for Content-Profile; null where there is no choice. */
  readonly profile: string | null;
  /** The plan's operations, with their places in operationsOf() any request of the shape. */
  readonly slots: ReadonlyMap<Operation, number>;
}

/**
 * @param printsRows as CompileInput
 * @throws AppError for whatever the request asks in vain
 */
export function prepareRequest(
  caller: Asker,
  catalog: Catalog,
  request: RestRequest,
  body: GivenBody | null,
  printsRows: boolean,
): PreparedRequest {
  const context = contextOf(caller, request, catalog);
  const { plan, schema } = planned(context, caller, request, body);
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

export function contextOf({ project, role }: Asker, request: RestRequest, catalog: Catalog): PlanContext {
  // Whatever a project sets: accounts, sessions and tokens are nobody's interface.
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
  { project, role }: Asker,
  request: RestRequest,
  body: GivenBody | null,
): { plan: RequestPlan; schema: string } {
  // A plan names whatever policies, views and functions look into, which only the service role may know.
  const options = { planEnabled: project.settings.plan_enabled && role === SERVICE_ROLE };
  if (request.kind === 'rpc') {
    const { plan, schema } = planRoutine(context, request, body, options);
    return { plan, schema };
  }
  const target = resolveTarget(context, request.target);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const plan = isRead
    ? planTableRead(target.context, target.relation, request, options)
    : planTableWrite(target.context, target.relation, request, body?.payload ?? null, options);
  return { plan, schema: target.context.schema };
}
