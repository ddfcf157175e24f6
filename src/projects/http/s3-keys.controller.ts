/** Platform administration: the key pairs of the S3 protocol (docs/reference/storage-s3.md). */
import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { s3KeyNotFound, tooManyS3Keys } from '../projects.errors';
import type { S3Key } from '../s3-keys';
import { MAX_S3_KEYS, S3KeysService } from '../s3-keys.service';
import { CreatedS3KeyResponse, CreateS3KeyDto, DeletedS3KeyResponse, S3KeyResponse } from './dto/s3-keys.dto';

@StaffApi()
@Controller('admin/v1/projects/:id/s3-keys')
export class S3KeysController {
  constructor(private readonly keys: S3KeysService) {}

  @Get()
  @Describe(`List the S3 keys of a project
    Without their secrets.`)
  @Answer(200, 'The keys, the oldest first', [S3KeyResponse])
  async listS3Keys(@Param('id') id: string): Promise<S3KeyResponse[]> {
    return (await this.keys.list(id)).map(toRecord);
  }

  @Post()
  @Describe(`Create an S3 key for a project
    With the rights of the service-role key, or of a user; for all buckets, or for one. Only this response contains the secret.`)
  @Answer(201, 'The key with its secret', CreatedS3KeyResponse)
  @Errors(invalidParameters('user_id must be a UUID'), tooManyS3Keys(MAX_S3_KEYS))
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
    return { ...toRecord(key), secret_access_key: key.secret };
  }

  @Delete(':access_key_id')
  @Describe(`Delete an S3 key of a project
    Its signatures, those of presigned addresses included, are refused at once.`)
  @Answer(200, 'The key is deleted', DeletedS3KeyResponse)
  @Errors(s3KeyNotFound())
  async deleteS3Key(
    @Param('id') id: string,
    @Param('access_key_id') keyId: string,
    @CurrentActor() actor: Actor,
  ): Promise<DeletedS3KeyResponse> {
    await this.keys.remove(id, keyId, actor);
    return { access_key_id: keyId, deleted: true };
  }
}

const toRecord = ({
  id,
  name,
  user_id,
  bucket,
  read_only,
  created_at,
  expires_at,
}: S3Key): S3KeyResponse => ({
  access_key_id: id,
  name,
  user_id,
  bucket,
  read_only,
  created_at: new Date(created_at),
  expires_at: expires_at === undefined ? null : new Date(expires_at),
});
