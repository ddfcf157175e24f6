/** Providers with which users of a project sign in, through the project's own auth API. */
import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../api/client';
import type { Project } from './projects';
import { projectClient } from './users';

export type Provider = Schema<'ProviderResponse'>;
export type ProviderInput = Schema<'SaveProviderDto'>;
export type Preset = Provider['preset'];

export const providersQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['providers', id],
    queryFn: async () => {
      const params = { params: { path: { project_id: id } } };
      return (await projectClient(id).GET('/v1/auth/{project_id}/admin/providers', params)).data!;
    },
  });

const pathOf = ({ id }: Project, name: string) => ({
  params: { path: { project_id: id, provider_name: name } },
});

export const saveProvider = (project: Project, name: string, body: ProviderInput) =>
  projectClient(project.id).PUT('/v1/auth/{project_id}/admin/providers/{provider_name}', {
    ...pathOf(project, name),
    body,
  });

export const removeProvider = (project: Project, name: string) =>
  projectClient(project.id).DELETE(
    '/v1/auth/{project_id}/admin/providers/{provider_name}',
    pathOf(project, name),
  );

/** @returns the address that a browser opens */
export async function tryProvider(project: Project, name: string): Promise<string> {
  const path = '/v1/auth/{project_id}/admin/providers/{provider_name}/try';
  return (await projectClient(project.id).POST(path, pathOf(project, name))).data!.url;
}

/** @returns the entry of a user in the LDAP directory */
export async function tryDirectory(
  { id }: Project,
  body: Schema<'LdapSignInDto'>,
): Promise<Record<string, unknown>> {
  const path = '/v1/auth/{project_id}/admin/ldap/try';
  const params = { path: { project_id: id } };
  return (await projectClient(id).POST(path, { params, body })).data!.claims;
}
