/** Query strings of the audit log. */
import { Matches, NotContains, IsISO8601 } from 'class-validator';
import { AuditFilter } from '../../audit/audit-log.repository';
import * as f from '../../../http/model/fields';
import { applyDecorators } from '@nestjs/common';

const RFC_3339 =
  /^[12]\d{3}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/;

/** A parameter such as `2026-01-01T08:00:00Z` (RFC 3339), within what PostgreSQL's timestamptz accepts. */
const Moment = (name: string): PropertyDecorator =>
  applyDecorators(
    Matches(RFC_3339, { message: `${name} must be a time such as 2026-01-01T08:00:00Z` }),
    IsISO8601({ strict: true }),
  );

class AuditFilterQuery extends f.model({
  project_id: f.optional.text('Only entries about this project', { checks: [NotContains('\0')] }),
  action: f.optional.text('Only entries of this action', {
    example: 'project.create',
    checks: [NotContains('\0')],
  }),
  actor: f.optional.text('Only entries of this author', {
    example: 'platform-admin',
    checks: [NotContains('\0')],
  }),
  since: f.optional(
    f.field<string>({ format: 'date-time', description: 'Only entries of this time or later' }, [
      Moment('since'),
    ]),
  ),
  until: f.optional(
    f.field<string>({ format: 'date-time', description: 'Only entries before this time' }, [Moment('until')]),
  ),
}) {}

export class ListAuditLogQuery extends f.model(AuditFilterQuery, {
  limit: f.optional.digits(1, 1_000, 'Entries per page; default: 100'),
  before: f.optional(
    f.field<string>(
      { pattern: '^\\d{1,18}$', description: 'The X-Next-Cursor header of the previous page' },
      [Matches(/^\d{1,18}$/, { message: 'before must be an id of the audit log' })],
    ),
  ),
}) {}

const EXPORT_FORMATS = ['jsonl', 'csv'] as const;

export class ExportAuditLogQuery extends f.model(AuditFilterQuery, {
  format: f.optional.choice(EXPORT_FORMATS, 'Default: jsonl'),
}) {}

export class VerifyAuditLogQuery extends f.model({
  after: f.optional.digits(
    0,
    undefined,
    'Continues after this position: `next` of the previous answer; default: 0',
  ),
  limit: f.optional.digits(1, 50_000, 'Records to verify; default: 10000'),
  head: f.optional(
    f.field<string>(
      {
        pattern: '^\\d{1,15}:[0-9a-f]{64}$',
        description: 'A head that was kept elsewhere, as `position:hash`: the chain must still contain it',
      },
      [Matches(/^\d{1,15}:[0-9a-f]{64}$/, { message: 'head must have the form position:hash' })],
    ),
  ),
}) {}

export const filterOf = ({ project_id: projectId, ...rest }: AuditFilterQuery): AuditFilter => ({
  projectId,
  action: rest.action,
  actor: rest.actor,
  since: rest.since,
  until: rest.until,
});
