/** A project at a glance, and its backups. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../api/client';
import type { Project } from './projects';

/** The server counts users for this query, so it is not repeated often. */
const STALE_MS = 60_000;

export const overviewQuery = ({ id }: Pick<Project, 'id'>) =>
  queryOptions({
    queryKey: ['overview', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/overview', { params: { path: { id } } })),
    // In a small project, the first steps are shown as soon as they are done.
    staleTime: ({ state: { data } }) => (data && data.has_rows && data.users > 0 ? STALE_MS : 0),
  });

/** Schedules and last backups of all projects. Only for staff with a role of the install. */
export const backupsQuery = () =>
  queryOptions({
    queryKey: ['backups'],
    queryFn: () => dataOf(api.GET('/admin/v1/backups')),
    // Shows the end of a rehearsal that was started here.
    refetchInterval: ({ state }) =>
      state.data?.projects.some(({ rehearsal }) => rehearsal?.finished_at === null) ? 2_000 : 20_000,
  });

const RUNS = 20;

export const backupRunsQuery = ({ id }: Pick<Project, 'id'>) =>
  queryOptions({
    queryKey: ['backups', 'runs', id],
    queryFn: () =>
      dataOf(api.GET('/admin/v1/backups/runs', { params: { query: { project_id: id, limit: RUNS } } })),
    // Shows the end of a backup that was started here.
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'running') ? 2_000 : 20_000),
  });
