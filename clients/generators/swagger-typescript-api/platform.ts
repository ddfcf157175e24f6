/** swagger-typescript-api, with its client for fetch(). */
import { Api } from './client/api';
import { BASE_URL } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';

await runPlatformSteps((headers): PlatformApi => {
  const { admin, rest, v1 } = new Api({ baseUrl: BASE_URL, baseApiParams: { headers: { ...headers } } });
  return {
    createProject: async (body) => (await admin.createProject(body)).data,
    changePlan: async (id, plan) => (await admin.updateProject(id, { plan })).data,
    runSql: async (id, query) => (await admin.runProjectSql(id, { query })).data,
    signUp: async (id, body) => (await v1.signUp(id, body)).data,
    selectRows: async (table) => (await rest.selectRows(table)).data,
    deleteProject: async (id) => (await admin.deleteProject(id)).data,
    conflictingCreate: (body) => admin.createProject(body),
  };
});
