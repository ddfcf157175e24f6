/** The response of a restore, as a type and as an OpenAPI schema. */
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

const ID = 'k3v9x0a1b2c3d4e5f6g7';

export class RestoreReport extends model({
  id: f.text({ description: 'Empty for a dry run that would make a copy', example: ID }),
  slug: f.text({ example: 'acme' }),
  same_id: f.flag('False: a copy with its own id and keys'),
  keys_kept: f.flag({
    description: 'False: the keys, secrets and the database password are new',
    example: false,
  }),
  dry_run: f.flag({ example: false }),
  backed_up_at: f.timeText(),
  tables: f.size({ example: 12 }),
  rows: f.size({ example: 34000 }),
  files: f.size({ example: 560 }),
  missing_files: f.size({
    description: 'Files whose bytes were lost before the backup',
    example: 0,
  }),
  skipped_settings: f.texts({
    description:
      'Settings of ALTER DATABASE and ALTER ROLE that the owner may not make here, and why; roles that exist already; memberships that need an administrator',
    example: [],
  }),
}) {}
