/** orval with its client for react-query: queries and mutations without a component. */
import { QueryClient } from '@tanstack/react-query';
import * as api from './client/api';
import { type PlatformApi, runPlatformSteps } from './platform-steps';
import { mutate } from './mutate';
import { failed, ok } from './statuses';

const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });

await runPlatformSteps((credentials): PlatformApi => {
  const options = { request: { headers: { ...credentials } } };
  return {
    createProject: async (data) =>
      ok(await mutate(client, api.getCreateProjectMutationOptions(options), { data }), 201),
    changePlan: async (id, plan) =>
      ok(await mutate(client, api.getUpdateProjectMutationOptions(options), { id, data: { plan } }), 200),
    runSql: async (id, query) =>
      ok(await mutate(client, api.getRunProjectSqlMutationOptions(options), { id, data: { query } }), 200),
    signUp: async (projectId, data) =>
      ok(await mutate(client, api.getSignUpMutationOptions(options), { projectId, data }), 201),
    selectRows: async (table) =>
      ok(await client.fetchQuery(api.getSelectRowsQueryOptions(table, undefined, options)), 200),
    deleteProject: async (id) =>
      ok(await mutate(client, api.getDeleteProjectMutationOptions(options), { id }), 200, 202),
    conflictingCreate: async (data) =>
      failed(await mutate(client, api.getCreateProjectMutationOptions(options), { data }), 409),
  };
});
