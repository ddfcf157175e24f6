/** ng-openapi-gen: Angular's HttpClient over fetch(), without a browser. */
import '@angular/compiler';
import { HttpContext, HttpErrorResponse } from '@angular/common/http';
import { Api } from './client/api';
import { provideApiConfiguration } from './client/api-configuration';
import * as fn from './client/functions';
import { BASE_URL, rejectionOf } from './common';
import { HEADERS, httpClient } from './http';
import { type PlatformApi, runPlatformSteps } from './platform-steps';

const api = new Api(provideApiConfiguration(BASE_URL).useValue, httpClient);

await runPlatformSteps((credentials): PlatformApi => {
  const context = new HttpContext().set(HEADERS, { ...credentials });
  return {
    createProject: (body) => api.invoke(fn.createProject, { body }, context),
    changePlan: (id, plan) => api.invoke(fn.updateProject, { id, body: { plan } }, context),
    runSql: (id, query) => api.invoke(fn.runProjectSql, { id, body: { query } }, context),
    signUp: (project_id, body) => api.invoke(fn.signUp, { project_id, body }, context),
    selectRows: (table) => api.invoke(fn.selectRows, { table }, context),
    deleteProject: (id) => api.invoke(fn.deleteProject, { id }, context),
    async conflictingCreate(body) {
      const reason = await rejectionOf(api.invoke(fn.createProject, { body }, context));
      if (!(reason instanceof HttpErrorResponse)) throw reason;
      return { status: reason.status, error: reason.error };
    },
  };
});
