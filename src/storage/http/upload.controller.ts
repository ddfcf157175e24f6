/** Uploads (SPEC.md 4.1): a form whose part `file` streams to the provider. */
import { Controller, HttpStatus, Param, Post, Query, Req, Res, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { FileRecord } from '../files/file';
import { UploadService } from '../files/upload.service';
import { QuotaWarnings } from '../quotas/quota-warnings';
import { UploadQuery } from './dto/files.dto';
import { FileDto } from './dto/records';
import { BucketAddressPipe } from './dto/text';
import { openMultipartForm } from './multipart-form';
import { Failures, QUOTA_HEADER, StorageAccess, Success } from './storage-api.decorator';
import { StorageEnvelopeInterceptor } from './storage-envelope.interceptor';

@StorageAccess()
@UseInterceptors(StorageEnvelopeInterceptor)
@Controller('p/:project_slug/storage/buckets/:bucket_name/upload')
export class UploadController {
  constructor(
    private readonly uploads: UploadService,
    private readonly warnings: QuotaWarnings,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Upload a file', operationId: 'uploadFile' })
  @ApiConsumes('multipart/form-data')
  @ApiBody({
    schema: {
      type: 'object',
      required: ['file'],
      properties: {
        filename: { type: 'string' },
        contentType: { type: 'string' },
        upsert: { type: 'string', enum: ['true', 'false'] },
        metadata: { type: 'string', description: 'A JSON object' },
        file: { type: 'string', format: 'binary' },
      },
    },
  })
  @Success(201, 'The file', FileDto, QUOTA_HEADER)
  @Success(200, 'The file, which took the place of another (upsert)', FileDto, QUOTA_HEADER)
  @Failures(400, 403, 404, 409, 413, 415)
  async upload(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Query() given: UploadQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<FileRecord> {
    const { record, isNew, marks } = await this.uploads.upload(caller, {
      bucket,
      given,
      announcedLength: lengthOf(request),
      openForm: () => openMultipartForm(request),
    });
    this.warnings.tell(caller.project, record, marks, response);
    response.status(isNew ? HttpStatus.CREATED : HttpStatus.OK);
    return record;
  }
}

function lengthOf(request: Request): number | null {
  const text = request.headers['content-length'];
  return text === undefined ? null : Number(text);
}
