/** Schedules of a project and their runs. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../api/client';
import type { Project } from './projects';

export type Schedule = Schema<'ScheduleResponse'>;

/** Shows a run soon after it began. */
const REFRESH_MS = 5_000;

const pathOf = (project: Project, schedule: Schedule) => ({
  path: { id: project.id, schedule_id: schedule.id },
});

export const schedulesQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['schedules', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/schedules', { params: { path: { id } } })),
  });

/** @param schedule null for a new schedule */
export const saveSchedule = (
  project: Project,
  schedule: Schedule | null,
  body: Schema<'CreateScheduleDto'>,
): Promise<Schedule> =>
  schedule
    ? dataOf(
        api.PATCH('/admin/v1/projects/{id}/schedules/{schedule_id}', {
          params: pathOf(project, schedule),
          body,
        }),
      )
    : dataOf(api.POST('/admin/v1/projects/{id}/schedules', { params: { path: { id: project.id } }, body }));

export const removeSchedule = (project: Project, schedule: Schedule) =>
  api.DELETE('/admin/v1/projects/{id}/schedules/{schedule_id}', { params: pathOf(project, schedule) });

export const runsQuery = (project: Project, schedule: Schedule) =>
  queryOptions({
    queryKey: ['schedule-runs', project.id, schedule.id],
    queryFn: () =>
      dataOf(
        api.GET('/admin/v1/projects/{id}/schedules/{schedule_id}/runs', {
          params: { ...pathOf(project, schedule), query: { limit: 200 } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
