/** @hey-api/openapi-ts with its sdk and zod plugins. */
import { createClient } from './client/client';
import * as sdk from './client/sdk.gen';
import { zUpdateProjectDto } from './client/zod.gen';
import { BASE_URL, given, unchanged } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';

await runPlatformSteps((headers): PlatformApi => {
  const client = createClient({ baseUrl: BASE_URL, headers: { ...headers } });
  return {
    async createProject(body) {
      const { data, error } = await sdk.createProject({ client, body });
      return given(data, error);
    },
    async changePlan(id, plan) {
      const body = unchanged(zUpdateProjectDto, { plan });
      const { data, error } = await sdk.updateProject({ client, path: { id }, body });
      return given(data, error);
    },
    async runSql(id, query) {
      const { data, error } = await sdk.runProjectSql({ client, path: { id }, body: { query } });
      return given(data, error);
    },
    async signUp(project_id, body) {
      const { data, error } = await sdk.signUp({ client, path: { project_id }, body });
      return given(data, error);
    },
    async selectRows(table) {
      const { data, error } = await sdk.selectRows({ client, path: { table } });
      return given(data, error);
    },
    async deleteProject(id) {
      const { data, error } = await sdk.deleteProject({ client, path: { id } });
      return given(data, error);
    },
    async conflictingCreate(body) {
      const { error, response } = await sdk.createProject({ client, body });
      return { status: given(response).status, error };
    },
  };
});
