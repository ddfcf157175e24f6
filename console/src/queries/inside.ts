/** Monitoring of a project: samples, sessions, slow statements, limits, queues and mails. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../api/client';
import type { Project } from './projects';
import { projectClient } from './users';

export type SampleRange = 'hour' | 'day';
export type Sample = Schema<'Sample'>;
export type DatabaseSession = Schema<'DatabaseSession'>;
export type SlowOrder = 'total' | 'mean' | 'max' | 'calls';
export type ProjectUsage = Schema<'ProjectUsage'>;

const pathOf = ({ id }: Project) => ({ path: { id } });

export const samplesQuery = (project: Project, range: SampleRange) =>
  queryOptions({
    queryKey: ['samples', project.id, range],
    queryFn: () =>
      dataOf(
        api.GET('/admin/v1/projects/{id}/samples', { params: { ...pathOf(project), query: { range } } }),
      ),
    refetchInterval: 30_000,
  });

export const activityQuery = (project: Project) =>
  queryOptions({
    queryKey: ['activity', project.id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/database/activity', { params: pathOf(project) })),
    staleTime: 0,
  });

export const slowQueriesQuery = (project: Project, order: SlowOrder) =>
  queryOptions({
    queryKey: ['slow-queries', project.id, order],
    queryFn: () =>
      dataOf(
        api.GET('/admin/v1/projects/{id}/database/slow-queries', {
          params: { ...pathOf(project), query: { order } },
        }),
      ),
  });

export const usageQuery = (project: Project) =>
  queryOptions({
    queryKey: ['usage', project.id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/usage', { params: pathOf(project) })),
    refetchInterval: 15_000,
  });

export const queuesQuery = () =>
  queryOptions({
    queryKey: ['queues'],
    queryFn: () => dataOf(api.GET('/admin/v1/queues')),
    refetchInterval: 15_000,
  });

export const failedMailsQuery = (project: Project) =>
  queryOptions({
    queryKey: ['failed-mails', project.id],
    queryFn: async () =>
      (
        await projectClient(project.id).GET('/v1/auth/{project_id}/admin/failed-mails', {
          params: { path: { project_id: project.id } },
        })
      ).data?.mails ?? [],
  });

/** The interval is long, because the checks take seconds on a large catalog. */
const ADVICE_STALE_MS = 300_000;

export const adviceQuery = (project: Project) =>
  queryOptions({
    queryKey: ['advice', project.id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/advice', { params: pathOf(project) })),
    staleTime: ADVICE_STALE_MS,
  });
