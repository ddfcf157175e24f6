/** Users of a project, through the project's own auth API. */
import createClient from 'openapi-fetch';
import { queryOptions } from '@tanstack/react-query';
import type { paths } from '../generated/openapi';
import { PLINTH_URL } from '../api/base-url';
import { unreachable } from '../api/reachability';
import { toApiError } from '../api/errors';
import { confirmedHeaders, projectHeaders } from '../api/identity';
import type { Schema } from '../api/client';

export type User = Schema<'AdminUserResponse'>;

const ACCOUNTS = /\/admin\/(users|providers)/;

/** A typed client for one project, with the credentials of the service role. */
export function projectClient(projectId: string) {
  const client = createClient<paths>({ baseUrl: PLINTH_URL, credentials: 'omit', cache: 'no-store' });
  client.use({
    async onRequest({ request, schemaPath }) {
      const headersOf =
        request.method !== 'GET' && ACCOUNTS.test(schemaPath) ? confirmedHeaders : projectHeaders;
      for (const [name, value] of Object.entries(await headersOf(projectId)))
        request.headers.set(name, value);
      return request;
    },
    async onResponse({ response }) {
      if (!response.ok) throw toApiError(response, await response.json().catch(() => null));
    },
    onError: unreachable,
  });
  return client;
}

interface Page {
  readonly search: string;
  readonly page: number;
  readonly perPage: number;
}

export const usersQuery = (projectId: string, { search, page, perPage }: Page) =>
  queryOptions({
    queryKey: ['users', projectId, search, page, perPage],
    queryFn: async () => {
      const { data, response } = await projectClient(projectId).GET('/v1/auth/{project_id}/admin/users', {
        params: {
          path: { project_id: projectId },
          query: { page, per_page: perPage, ...(search === '' ? {} : { search }) },
        },
      });
      return { users: data?.users ?? [], total: Number(response.headers.get('x-total-count') ?? 0) };
    },
  });

export const userQuery = (projectId: string, userId: string) =>
  queryOptions({
    queryKey: ['user', projectId, userId],
    queryFn: async () => {
      const { data } = await projectClient(projectId).GET('/v1/auth/{project_id}/admin/users/{user_id}', {
        params: { path: { project_id: projectId, user_id: userId } },
      });
      return data!.user;
    },
  });
