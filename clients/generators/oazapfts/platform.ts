/** oazapfts: every response is a union by its status. */
import * as api from './client/api';
import { BASE_URL } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';
import { failed, ok } from './statuses';

await runPlatformSteps((headers): PlatformApi => {
  const options = { baseUrl: BASE_URL, headers: { ...headers } };
  return {
    createProject: async (body) => ok(await api.createProject(body, options), 201),
    changePlan: async (id, plan) => ok(await api.updateProject(id, { plan }, options), 200),
    runSql: async (id, query) => ok(await api.runProjectSql(id, { query }, options), 200),
    signUp: async (id, body) => ok(await api.signUp(id, body, options), 201),
    selectRows: async (table) => ok(await api.selectRows(table, {}, options), 200),
    deleteProject: async (id) => ok(await api.deleteProject(id, options), 200, 202),
    conflictingCreate: async (body) => failed(await api.createProject(body, options), 409),
  };
});
