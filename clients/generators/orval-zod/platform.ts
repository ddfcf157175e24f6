/** orval with its schemas of zod: fetch() sends the requests, and the schemas check and type what is sent and answered. */
import * as z from './client/api';
import { unchanged } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';
import { failed, ok, sender } from './send';

const PROJECTS = '/admin/v1/projects';

await runPlatformSteps((credentials): PlatformApi => {
  const send = sender({ ...credentials });
  return {
    createProject: async (body) =>
      ok(await send('POST', PROJECTS, unchanged(z.createProjectBody, body)), z.createProject201Response),
    changePlan: async (id, plan) => {
      const body = unchanged(z.updateProjectBody, { plan });
      return ok(await send('PATCH', `${PROJECTS}/${id}`, body), z.updateProject200Response);
    },
    runSql: async (id, query) => {
      const body = unchanged(z.runProjectSqlBody, { query });
      return ok(await send('POST', `${PROJECTS}/${id}/sql`, body), z.runProjectSql200Response);
    },
    signUp: async (id, body) =>
      ok(await send('POST', `/v1/auth/${id}/signup`, unchanged(z.signUpBody, body)), z.signUp201Response),
    selectRows: async (table) => ok(await send('GET', `/rest/v1/${table}`), z.selectRows200Response),
    deleteProject: async (id) => ok(await send('DELETE', `${PROJECTS}/${id}`), z.deleteProject200Response),
    conflictingCreate: async (body) => failed(await send('POST', PROJECTS, body), z.createProject409Response),
  };
});
