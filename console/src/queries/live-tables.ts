/** Tables whose changes are sent to subscribers. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../api/client';
import type { Project } from './projects';

export type LiveTable = Schema<'LiveTable'>;

export const liveTablesQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['live-tables', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/live-tables', { params: { path: { id } } })),
  });

export const changeLiveTable = ({ id }: Project, body: Schema<'ChangeLiveTableDto'>) =>
  dataOf(api.PATCH('/admin/v1/projects/{id}/live-tables', { params: { path: { id } }, body }));
