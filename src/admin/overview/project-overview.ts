/** A project at a glance, as a type and as an OpenAPI schema. */
import * as f from '../../http/model/fields';

class DayOfRequests extends f.model({
  requests: f.size('Requests that finished, including refused ones'),
  refused: f.size('Those with a status from 400 to 499'),
  errors: f.size('Those with a status from 500'),
}) {}

export class ProjectOverview extends f.model({
  database_bytes: f.size({ example: 9_437_184 }),
  storage_bytes: f.size('Bytes of the files', { example: 1_048_576 }),
  files: f.size({ example: 12 }),
  users: f.size('Number of users', { example: 340 }),
  tables: f.size('Number of tables in the schema public', { example: 8 }),
  has_rows: f.flag('Whether a table of the schema public has rows'),
  mail_server: f.flag('Whether mails are sent; false: without SMTP_URL they are files in the data directory'),
  last_day: f.object(DayOfRequests, 'From the samples of the last 24 hours', {
    example: { requests: 48_200, refused: 31, errors: 0 },
  }),
  last_backup_at: f.nullable.timeText('The newest backup that Plinth made; null if there is none'),
}) {}
