/** Plan and compile: the statements that a request needs on a catalog, without its values. Pure. */
import { SERVICE_ROLE } from '../../projects/project-keys';
import type { ProjectSettings } from '../../projects/project-settings';
import type { RequestBody } from '../body/request-body';
import type { Catalog } from '../catalog/catalog';
import { compileRequest } from '../compile/compile-request';
import type { CompiledRequest } from '../compile/compiled-statement';
import type { RequestShape } from '../grammar/rest-request';
import type { RequestPlan } from '../plan/plan';
import type { PlanContext } from '../plan/plan-context';
import { planRoutine } from '../plan/plan-routine';
import { planTableRead, planTableWrite } from '../plan/plan-table';
import { resolveRelation, schemaOf } from '../plan/resolve-relation';

/** The part of a caller that a plan depends on. */
export interface PlanScope {
  readonly role: string;
  readonly project: { readonly revision: string; readonly settings: ProjectSettings };
}

/** Serves every request of the same shape, for all callers: it holds none of their values. */
export interface CompiledPlan {
  readonly plan: RequestPlan;
  readonly compiled: CompiledRequest;
  /** The schema in which names without one are looked up. */
  readonly schema: string;
  /** The same where the project exposes several, for Content-Profile; null where there is no choice. */
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
