/** Projects of the install, and the catalog of a project's database. */
import {
  type QueryClient,
  type QueryKey,
  queryOptions,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PLINTH_URL } from '../api/base-url';
import { api, assertOk, dataOf, type Schema } from '../api/client';
import { ApiError } from '../api/errors';
import { type Identity, projectHeaders } from '../api/identity';
import { type Session, useSession } from '../api/session';
import { isAllowed } from '../lib/permissions';
import type { Relation } from './catalog-types';

export type Project = Schema<'ProjectResponse'>;

/** Maximum number of listed projects; the search of the home page finds the other projects. */
const LISTED = 500;

export const projectsQuery = (search = '') =>
  queryOptions({
    queryKey: ['projects', search],
    queryFn: () =>
      dataOf(
        api.GET('/admin/v1/projects', {
          params: { query: { limit: LISTED, ...(search === '' ? {} : { search }) } },
        }),
      ),
  });

export const projectQuery = (slug: string) =>
  queryOptions({
    queryKey: ['project', slug],
    queryFn: async () => {
      const [project] = await dataOf(api.GET('/admin/v1/projects', { params: { query: { slug } } }));
      if (!project) throw new ApiError(404, 'project_not_found', slug);
      return project;
    },
    staleTime: 60_000,
  });

/** Refetches a project after a change of its keys, because other screens send the project's time of change. */
export async function onKeysChanged(
  client: QueryClient,
  { slug }: Project,
  keys: { readonly queryKey: QueryKey },
): Promise<void> {
  await client.invalidateQueries({ queryKey: keys.queryKey });
  await client.invalidateQueries({ queryKey: projectQuery(slug).queryKey });
}

const route = getRouteApi('/signed-in/projects/$slug');

/** The project of the URL. Only for screens below the layout of a project, which loads it. */
export function useProject(): Project {
  const { slug } = route.useParams();
  return useSuspenseQuery(projectQuery(slug)).data;
}

/** Runs SQL as the owner of the project. */
export async function runSql(
  projectId: string,
  query: string,
  options: Omit<Schema<'SqlDto'>, 'query'> = {},
  signal?: AbortSignal,
): Promise<Schema<'SqlResponse'>> {
  return dataOf(
    api.POST('/admin/v1/projects/{id}/sql', {
      params: { path: { id: projectId } },
      body: { query, ...options },
      ...(signal ? { signal } : {}),
    }),
  );
}

const catalogKey = (projectId: string) => ['catalog', projectId];

async function fetchCatalog(project: Project): Promise<Relation[]> {
  const params = { params: { path: { id: project.id } } };
  const relations = await dataOf(api.GET('/admin/v1/projects/{id}/catalog', params));
  return relations.map(({ primary_key: primaryKey, foreign_keys: foreignKeys, ...one }) => ({
    ...one,
    primaryKey,
    foreignKeys,
  }));
}

/** The project's own OpenAPI document, as an identity sees it. */
export async function fetchDocument(project: Project, identity: Identity): Promise<Record<string, unknown>> {
  const headers = await projectHeaders(project.id, identity);
  const url = `${PLINTH_URL}/p/${encodeURIComponent(project.slug)}/openapi.json`;
  const response = await assertOk(await fetch(url, { headers, credentials: 'omit' }));
  return (await response.json()) as Record<string, unknown>;
}

/** Roles that may run SQL may also change rows. */
const mayRunSql = (session: Session | null, projectId: string): boolean =>
  isAllowed(session, 'POST /admin/v1/projects/:id/sql', projectId);

/** Whether the staff member may use a route of the project, such as `DELETE /admin/v1/projects/:id`. */
export function useMay({ id }: Project, route: string): boolean {
  return isAllowed(useSession(), route, id);
}

/** True if the staff member may change rows and run SQL. The server decides; this hides actions that it would refuse. */
export function useMayWrite({ id }: Project): boolean {
  return mayRunSql(useSession(), id);
}

export function useCatalog(project: Project) {
  return useQuery({
    queryKey: catalogKey(project.id),
    queryFn: () => fetchCatalog(project),
    staleTime: 30_000,
  });
}

/** Refetches the catalog and the grids. */
export function useCatalogChanged(project: Project): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: catalogKey(project.id) });
    await client.invalidateQueries({ queryKey: ['rows', project.id] });
  };
}

/** True if table REST serves the relation. */
export function isExposed(project: Project, relation: Pick<Relation, 'schema'>): boolean {
  return project.settings.exposed_schemas.includes(relation.schema);
}
