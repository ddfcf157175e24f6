/** Projects of the install, and the catalog of a project's database. */
import { queryOptions, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, dataOf, type Schema } from '../api/client';
import { ApiError } from '../api/errors';
import type { Relation } from './catalog-types';
import { CATALOG } from './catalog-sql';

export type Project = Schema<'ProjectRecord'>;

/** More than a person looks through; the search of the home page finds the others. */
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

const route = getRouteApi('/signed-in/projects/$slug');

/** The project of the URL. Only for screens below the layout of a project, which has loaded it. */
export function useProject(): Project {
  const { slug } = route.useParams();
  return useSuspenseQuery(projectQuery(slug)).data;
}

/** Runs SQL as the owner of the project. */
export async function runSql(
  projectId: string,
  query: string,
  options: { max_rows?: number; timeout_seconds?: number } = {},
  signal?: AbortSignal,
): Promise<Schema<'SqlAnswer'>> {
  return dataOf(
    api.POST('/admin/v1/projects/{id}/sql', {
      params: { path: { id: projectId } },
      body: { query, ...options },
      ...(signal ? { signal } : {}),
    }),
  );
}

const catalogKey = (projectId: string) => ['catalog', projectId];

export function useCatalog(project: Project) {
  return useQuery({
    queryKey: catalogKey(project.id),
    queryFn: async () =>
      (await runSql(project.id, CATALOG, { max_rows: 20_000 })).rows as unknown as Relation[],
    staleTime: 30_000,
  });
}

/** Reads the catalog again, and the grids with it. */
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
