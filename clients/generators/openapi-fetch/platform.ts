/** openapi-typescript and openapi-fetch. */
import createClient from 'openapi-fetch';
import { BASE_URL, given } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';
import type { paths } from './schema';

await runPlatformSteps((headers): PlatformApi => {
  const api = createClient<paths>({ baseUrl: BASE_URL, headers: { ...headers } });
  return {
    async createProject(body) {
      const { data, error } = await api.POST('/admin/v1/projects', { body });
      return given(data, error);
    },
    async changePlan(id, plan) {
      const params = { path: { id } };
      const { data, error } = await api.PATCH('/admin/v1/projects/{id}', { params, body: { plan } });
      return given(data, error);
    },
    async runSql(id, query) {
      const params = { path: { id } };
      const { data, error } = await api.POST('/admin/v1/projects/{id}/sql', { params, body: { query } });
      return given(data, error);
    },
    async signUp(project_id, body) {
      const params = { path: { project_id } };
      const { data, error } = await api.POST('/v1/auth/{project_id}/signup', { params, body });
      return given(data, error);
    },
    async selectRows(table) {
      const { data, error } = await api.GET('/rest/v1/{table}', { params: { path: { table } } });
      return given(data, error);
    },
    async deleteProject(id) {
      const { data, error } = await api.DELETE('/admin/v1/projects/{id}', { params: { path: { id } } });
      return given(data, error);
    },
    async conflictingCreate(body) {
      const { error, response } = await api.POST('/admin/v1/projects', { body });
      return { status: response.status, error };
    },
  };
});
