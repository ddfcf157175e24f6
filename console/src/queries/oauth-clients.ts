/** Applications that sign in with accounts of a project, through the project's own auth API. */
import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../api/client';
import type { Project } from './projects';
import { projectClient } from './users';

export type OAuthClient = Schema<'OAuthClientResponse'>;

const CLIENTS = '/p/{project_slug}/auth/v1/admin/oauth/clients';

export const oauthClientsQuery = ({ id, slug }: Project) =>
  queryOptions({
    queryKey: ['oauth-clients', id],
    queryFn: async () => {
      const params = { path: { project_slug: slug }, query: { per_page: 1_000 } };
      return [...(await projectClient(id).GET(CLIENTS, { params })).data!.clients];
    },
  });

export const createOAuthClient = async ({ id, slug }: Project, body: Schema<'OAuthClientDto'>) =>
  (await projectClient(id).POST(CLIENTS, { params: { path: { project_slug: slug } }, body })).data!;

export const removeOAuthClient = ({ id, slug }: Project, { client_id }: OAuthClient) =>
  projectClient(id).DELETE(`${CLIENTS}/{client_id}`, {
    params: { path: { project_slug: slug, client_id } },
  });
