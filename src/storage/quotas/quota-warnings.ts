/** Warns that a quota is nearly used up: the client by a header, the operator by a log line when a threshold is reached. */
import { Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { Project } from '../../projects/project';
import { FileRecord } from '../files/file';
import { QuotaMark } from './quota';

export const QUOTA_WARNING = 'X-Quota-Warning';
const logger = new Logger('QuotaWarnings');

/** `X-Quota-Warning: project=80, bucket=95`: percent of the bytes or of the files, whichever is higher. */
export function warnOfQuotas(
  { slug }: Project,
  { bucket_id: bucket }: FileRecord,
  marks: readonly QuotaMark[],
  response: ServerResponse,
): void {
  if (marks.length === 0) return;
  response.setHeader(QUOTA_WARNING, marks.map(({ scope, percent }) => `${scope}=${percent}`).join(', '));
  for (const { scope, percent } of marks.filter(({ isNew }) => isNew)) {
    const whose = scope === 'bucket' ? `bucket ${bucket} of project ${slug}` : `project ${slug}`;
    logger.warn(`quota_warning: ${percent} % of the storage quota of ${whose} are used`);
  }
}
