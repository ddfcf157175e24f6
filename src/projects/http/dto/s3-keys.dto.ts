/** Bodies and responses of the key pairs of the S3 protocol. */
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

const RIGHTS = { name: 'backups', user_id: null, bucket: 'backups', read_only: false };
const KEY = {
  access_key_id: 'k3v9x0a1b2c3d4e5f6g7m4q8z1t6w2y9',
  ...RIGHTS,
  created_at: '2026-11-26T09:00:00.000Z',
};
const USER = { description: 'Requests have the rights of this user; null: of the service-role key' } as const;
const BUCKET = { description: 'The only bucket that the key reaches, by name or slug; null: all' } as const;

@Example({ name: 'backups', bucket: 'backups' })
export class CreateS3KeyDto extends model({
  name: f.optional(f.nullable(f.text({ max: 255, description: 'What the key is for; default: empty' }))),
  user_id: f.optional(f.nullable(f.uuid(USER))),
  bucket: f.optional(f.nullable(f.text({ min: 1, max: 255, ...BUCKET }))),
  read_only: f.optional(f.nullable(f.flag('The key may only read; default: false'))),
}) {}

export class S3KeyResponse extends model({
  access_key_id: f.text({ example: 'k3v9x0a1b2c3d4e5f6g7m4q8z1t6w2y9' }),
  name: f.text({ description: 'What the key is for', example: 'backups' }),
  user_id: f.nullable(f.text(USER)),
  bucket: f.nullable(f.text({ ...BUCKET, example: 'backups' })),
  read_only: f.flag({ description: 'The key may only read', example: false }),
  created_at: f.time(),
  expires_at: f.nullable(f.time('The end of the grace period of a rotation; null before one')),
}) {}

export class CreatedS3KeyResponse extends model(S3KeyResponse, {
  secret_access_key: f.text({
    description: 'Shown only now',
    example: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2w3D5i6R9k0T',
  }),
}) {}

@Example({ access_key_id: KEY.access_key_id, deleted: true })
export class DeletedS3KeyResponse extends model({
  access_key_id: f.text(),
  deleted: f.field<true>({ type: Boolean, enum: [true] }, [], true),
}) {}
