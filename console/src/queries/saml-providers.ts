/** SAML identity providers of a project, through the project's own auth API. */
import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../api/client';
import type { Project } from './projects';
import { projectClient } from './users';

export type SamlProvider = Schema<'GoTrueSsoProviderResponse'>;
type SamlProviderInput = Schema<'GoTrueSsoProviderDto'>;

const PROVIDERS = '/p/{project_slug}/auth/v1/admin/sso/providers';
const PROVIDER = `${PROVIDERS}/{sso_provider_id}` as const;

const pathOf = ({ slug }: Project, id: string) => ({
  params: { path: { project_slug: slug, sso_provider_id: id } },
});

export const samlProvidersQuery = ({ id, slug }: Project) =>
  queryOptions({
    queryKey: ['saml-providers', id],
    queryFn: async () =>
      (await projectClient(id).GET(PROVIDERS, { params: { path: { project_slug: slug } } })).data!,
  });

/** @param id null for a new provider */
export async function saveSamlProvider(
  project: Project,
  id: string | null,
  body: SamlProviderInput,
): Promise<SamlProvider> {
  const client = projectClient(project.id);
  return id === null
    ? (await client.POST(PROVIDERS, { params: { path: { project_slug: project.slug } }, body })).data!
    : (await client.PUT(PROVIDER, { ...pathOf(project, id), body })).data!;
}

export const removeSamlProvider = (project: Project, id: string) =>
  projectClient(project.id).DELETE(PROVIDER, pathOf(project, id));

/** @returns the address that a browser opens */
export async function trySamlProvider(project: Project, id: string): Promise<string> {
  return (await projectClient(project.id).POST(`${PROVIDER}/try`, pathOf(project, id))).data!.url;
}
