/** @rtk-query/codegen-openapi: endpoints of RTK Query, dispatched to a store. */
import { configureStore } from '@reduxjs/toolkit';
import { api } from './client/api';
import { given } from './common';
import { type PlatformApi, runPlatformSteps } from './platform-steps';

await runPlatformSteps((credentials): PlatformApi => {
  const store = configureStore({
    reducer: { [api.reducerPath]: api.reducer },
    middleware: (defaults) => defaults({ thunk: { extraArgument: credentials } }).concat(api.middleware),
  });
  const { endpoints } = api;
  const { dispatch } = store;
  return {
    createProject: (createProjectDto) =>
      dispatch(endpoints.createProject.initiate({ createProjectDto })).unwrap(),
    changePlan: (id, plan) =>
      dispatch(endpoints.updateProject.initiate({ id, updateProjectDto: { plan } })).unwrap(),
    runSql: (id, query) => dispatch(endpoints.runProjectSql.initiate({ id, sqlDto: { query } })).unwrap(),
    signUp: (projectId, signUpDto) => dispatch(endpoints.signUp.initiate({ projectId, signUpDto })).unwrap(),
    selectRows: (table) => dispatch(endpoints.selectRows.initiate({ table })).unwrap(),
    deleteProject: (id) => dispatch(endpoints.deleteProject.initiate({ id })).unwrap(),
    async conflictingCreate(createProjectDto) {
      const { error } = await dispatch(endpoints.createProject.initiate({ createProjectDto }));
      if (!error || !('status' in error) || typeof error.status !== 'number')
        throw new Error(JSON.stringify(error));
      return { status: error.status, error: given(error.data) };
    },
  };
});
