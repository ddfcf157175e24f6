/** Uploads (SPEC.md 4.1): a form whose part `file` streams to the provider. */
import { Controller, HttpStatus, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import { BodyReader } from '../../http/bodies/body-reader';
import type { UploadForm } from '../files/upload-form';
import { FileRecord } from '../files/file';
import { UploadService } from '../files/upload.service';
import { QuotaWarnings } from '../quotas/quota-warnings';
import { UploadQuery } from './dto/files.dto';
import { FileDto } from './dto/records';
import { BucketAddressPipe } from './dto/text';
import { MAX_WAITING, openMultipartForm } from './multipart-form';
import { Failures, QUOTA_HEADER, StorageAccess, Success } from './storage-api.decorator';

@StorageAccess()
@Controller('p/:project_slug/storage/buckets/:bucket_name/upload')
export class UploadController {
  constructor(
    private readonly uploads: UploadService,
    private readonly warnings: QuotaWarnings,
    private readonly bodies: BodyReader,
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
  @Success(200, 'The file, which replaced another (upsert)', FileDto, QUOTA_HEADER)
  @Failures(403, 404, 409, 413, 415)
  async upload(
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Query() given: UploadQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<FileRecord> {
    const caller = callerOf(request);
    const { record, isNew, marks } = await this.uploads.upload(caller, {
      bucket,
      given,
      announcedLength: lengthOf(request),
      withForm: (held, work) => this.withForm(request, held, work),
    });
    this.warnings.report(caller.project, record, marks, response);
    response.status(isNew ? HttpStatus.CREATED : HttpStatus.OK);
    return record;
  }

  private async withForm<T>(
    request: Request,
    held: number,
    work: (form: UploadForm) => Promise<T>,
  ): Promise<T> {
    const memory = await this.bodies.reserve(
      request,
      Math.min(lengthOf(request) ?? Infinity, held + MAX_WAITING),
    );
    try {
      const form = await openMultipartForm(request, this.bodies.pace, memory);
      try {
        return await work(form);
      } catch (error) {
        const cause = form.failure ?? error;
        form.stop();
        throw cause;
      }
    } finally {
      memory.release();
    }
  }
}

function lengthOf(request: Request): number | null {
  const text = request.headers['content-length'];
  return text === undefined ? null : Number(text);
}
