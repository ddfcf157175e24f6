/** kubb, with its plugins for types, axios and zod: the schemas of zod check each body and each answer. */
import { isAxiosError } from 'axios';
import * as api from './client';
import { BASE_URL, rejectionOf } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';

await runPlatformSteps((credentials): PlatformApi => {
  const config = { baseURL: BASE_URL, headers: { ...credentials } };
  return {
    createProject: (body) => api.createProject(body, config),
    changePlan: (id, plan) => api.updateProject(id, { plan }, config),
    runSql: (id, query) => api.runProjectSql(id, { query }, config),
    signUp: (id, body) => api.signUp(id, body, config),
    selectRows: (table) => api.selectRows(table, {}, {}, config),
    deleteProject: (id) => api.deleteProject(id, config),
    async conflictingCreate(body) {
      const reason = await rejectionOf(api.createProject(body, config));
      if (!isAxiosError<unknown>(reason) || !reason.response) throw reason;
      const { status, data } = reason.response;
      return { status, error: api.createProject409Schema.parse(data) };
    },
  };
});
