/** openapi-client-axios-typegen: types for openapi-client-axios, which reads the document at run time. */
import { readFileSync } from 'node:fs';
import { isAxiosError } from 'axios';
import { type Document, OpenAPIClientAxios } from 'openapi-client-axios';
import type { Client } from './client/api';
import { BASE_URL, rejectionOf } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';

const definition = JSON.parse(readFileSync('openapi.json', 'utf8')) as Document;

await runPlatformSteps((headers): PlatformApi => {
  const axiosConfigDefaults = { baseURL: BASE_URL, headers: { ...headers } };
  const api = new OpenAPIClientAxios({ definition, axiosConfigDefaults }).initSync<Client>();
  return {
    createProject: async (body) => (await api.createProject(null, body)).data,
    changePlan: async (id, plan) => (await api.updateProject({ id }, { plan })).data,
    runSql: async (id, query) => (await api.runProjectSql({ id }, { query })).data,
    signUp: async (project_id, body) => (await api.signUp({ project_id }, body)).data,
    selectRows: async (table) => (await api.selectRows({ table })).data,
    deleteProject: async (id) => (await api.deleteProject({ id })).data,
    async conflictingCreate(body) {
      const reason = await rejectionOf(api.createProject(null, body));
      if (!isAxiosError<unknown>(reason) || !reason.response) throw reason;
      return { status: reason.response.status, error: reason.response.data };
    },
  };
});
