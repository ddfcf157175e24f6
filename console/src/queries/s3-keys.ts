/** The key pairs of the S3 protocol of a project. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../api/client';
import type { Project } from './projects';

export type S3Key = Schema<'S3KeyResponse'>;
export type CreatedS3Key = Schema<'CreatedS3KeyResponse'>;

export const s3KeysQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['s3-keys', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/s3-keys', { params: { path: { id } } })),
  });

export const createS3Key = ({ id }: Project, body: Schema<'CreateS3KeyDto'>) =>
  dataOf(api.POST('/admin/v1/projects/{id}/s3-keys', { params: { path: { id } }, body }));

export const removeS3Key = ({ id }: Project, { access_key_id }: S3Key) =>
  api.DELETE('/admin/v1/projects/{id}/s3-keys/{access_key_id}', {
    params: { path: { id, access_key_id } },
  });
