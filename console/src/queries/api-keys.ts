/** The named keys of a project. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../api/client';
import type { Project } from './projects';

export type ApiKey = Schema<'ApiKeyResponse'>;
export type CreatedApiKey = Schema<'CreatedApiKeyResponse'>;

export const apiKeysQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['api-keys', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/api-keys', { params: { path: { id } } })),
  });

export const createApiKey = ({ id }: Project, body: Schema<'CreateApiKeyDto'>) =>
  dataOf(api.POST('/admin/v1/projects/{id}/api-keys', { params: { path: { id } }, body }));

export const revokeApiKey = ({ id }: Project, key: ApiKey) =>
  api.DELETE('/admin/v1/projects/{id}/api-keys/{key_id}', { params: { path: { id, key_id: key.id } } });
