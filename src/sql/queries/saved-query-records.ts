/** Saved queries, as types and as OpenAPI schemas. */
import { Example } from '../../http/docs/example.decorator';
import * as f from '../../http/model/fields';
import { model } from '../../http/model/model';

/** Characters. */
const NAME_LENGTH = 100;
const SQL_LENGTH = 100_000;

const NAME = { example: 'Signups of the week', minLength: 1, maxLength: NAME_LENGTH } as const;
const SQL = { example: 'select count(*) from auth.users', minLength: 1, maxLength: SQL_LENGTH } as const;
const SHARED = {
  description: 'Whether all staff who can run SQL in the project see it; otherwise only its author does',
} as const;

@Example({ name: NAME.example, sql: SQL.example, shared: true })
export class SaveQueryDto extends model({
  name: f.text({
    min: 1,
    max: NAME_LENGTH,
    ...NAME,
    description: 'Unique among the queries of the author in the project',
  }),
  sql: f.text({ min: 1, max: SQL_LENGTH, ...SQL }),
  shared: f.optional(f.flag(SHARED)),
}) {}

export class UpdateQueryDto extends model({
  name: f.optional(f.text({ min: 1, max: NAME_LENGTH, ...NAME })),
  sql: f.optional(f.text({ min: 1, max: SQL_LENGTH, ...SQL })),
  shared: f.optional(f.flag({ ...SHARED, example: false })),
}) {}

export class SavedQuery extends model({
  id: f.uuid(),
  name: f.text({ example: NAME.example }),
  sql: f.text({ example: SQL.example }),
  shared: f.flag(SHARED),
  mine: f.flag({ description: 'True if the sender saved it, and may change it', example: false }),
  author: f.nullable(
    f.text({
      description: 'Name of the staff member; null: saved with PLATFORM_ADMIN_KEY',
      example: 'Ada Lovelace',
    }),
  ),
  created_at: f.time(),
  updated_at: f.time(),
}) {}
