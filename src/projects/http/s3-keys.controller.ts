/** Platform administration: the key pairs of the S3 protocol (docs/reference/storage-s3.md). */
import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { MAX_KEYS } from '../project-key-lists.service';
import { keyNotFound, tooManyKeys } from '../projects.errors';
import type { S3Key } from '../s3-keys';
import { S3KeysService } from '../s3-keys.service';
import * as f from '../../http/model/fields';

const RIGHTS = { name: 'backups', user_id: null, bucket: 'backups', read_only: false };
const KEY = {
  access_key_id: 'k3v9x0a1b2c3d4e5f6g7m4q8z1t6w2y9',
  ...RIGHTS,
  created_at: '2026-11-26T09:00:00.000Z',
};
const USER = { description: 'Requests have the rights of this user; null: of the service-role key' } as const;
const BUCKET = { description: 'The only bucket that the key reaches, by name or slug; null: all' } as const;

@f.Example({ name: 'backups', bucket: 'backups' })
class CreateS3KeyDto extends f.model({
  name: f.optional(f.nullable.text('What the key is for; default: empty', { max: 255 })),
  user_id: f.optional(f.nullable.uuid(USER)),
  bucket: f.optional(f.nullable.text({ min: 1, max: 255, ...BUCKET })),
  read_only: f.optional(f.nullable.flag('The key may only read; default: false')),
}) {}

class S3KeyResponse extends f.model({
  access_key_id: f.text({ example: 'k3v9x0a1b2c3d4e5f6g7m4q8z1t6w2y9' }),
  name: f.text('What the key is for', { example: 'backups' }),
  user_id: f.nullable.text(USER),
  bucket: f.nullable.text({ ...BUCKET, example: 'backups' }),
  read_only: f.flag('The key may only read', { example: false }),
  created_at: f.time(),
  expires_at: f.nullable.time('The end of the grace period of a rotation; null before one'),
  last_used_at: f.nullable.time('Up to a minute late; null: it was not used'),
}) {}

class CreatedS3KeyResponse extends f.model(S3KeyResponse, {
  secret_access_key: f.text('Shown only now', { example: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2w3D5i6R9k0T' }),
}) {}

@f.Example({ access_key_id: KEY.access_key_id, deleted: true })
class DeletedS3KeyResponse extends f.model({
  access_key_id: f.text(),
  deleted: f.field<true>({ type: Boolean, enum: [true] }, [], true),
}) {}

@StaffApi()
@Controller('admin/v1/projects/:id/s3-keys')
export class S3KeysController {
  constructor(private readonly keys: S3KeysService) {}

  @Get()
  @Describe(`List the S3 keys of a project
    Without their secrets.`)
  @Answer(200, 'The keys, the oldest first', [S3KeyResponse])
  async listS3Keys(@Param('id') id: string): Promise<S3KeyResponse[]> {
    return (await this.keys.list(id)).map(({ key, lastUsedAt }) => toRecord(key, lastUsedAt));
  }

  @Post()
  @Describe(`Create an S3 key for a project
    With the rights of the service-role key, or of a user; for all buckets, or for one. Only this response contains the secret.`)
  @Answer(201, 'The key with its secret', CreatedS3KeyResponse)
  @Errors(invalidParameters('user_id must be a UUID'), tooManyKeys(MAX_KEYS))
  async createS3Key(
    @Param('id') id: string,
    @StrictBody() body: CreateS3KeyDto,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedS3KeyResponse> {
    const rights = {
      name: body.name ?? '',
      user_id: body.user_id?.toLowerCase() ?? null,
      bucket: body.bucket ?? null,
      read_only: body.read_only ?? false,
    };
    const key = await this.keys.create(id, rights, actor);
    return { ...toRecord(key, null), secret_access_key: key.secret };
  }

  @Delete(':access_key_id')
  @Describe(`Delete an S3 key of a project
    Its signatures, those of presigned addresses included, are refused at once.`)
  @Answer(200, 'The key is deleted', DeletedS3KeyResponse)
  @Errors(keyNotFound())
  async deleteS3Key(
    @Param('id') id: string,
    @Param('access_key_id') keyId: string,
    @CurrentActor() actor: Actor,
  ): Promise<DeletedS3KeyResponse> {
    await this.keys.remove(id, keyId, actor);
    return { access_key_id: keyId, deleted: true };
  }
}

const toRecord = (
  { id, name, user_id, bucket, read_only, created_at, expires_at }: S3Key,
  lastUsedAt: Date | null,
): S3KeyResponse => ({
  access_key_id: id,
  name,
  user_id,
  bucket,
  read_only,
  created_at: new Date(created_at),
  expires_at: expires_at === undefined ? null : new Date(expires_at),
  last_used_at: lastUsedAt,
});
