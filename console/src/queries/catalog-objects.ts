/** Types, functions, triggers, views and extensions of a project's database. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../api/client';
import type { Project } from './projects';

/** Refetched with the catalog, because its query key begins with the key of the catalog. */
export const catalogObjectsQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['catalog', id, 'objects'],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/catalog/objects', { params: { path: { id } } })),
    staleTime: 30_000,
  });
