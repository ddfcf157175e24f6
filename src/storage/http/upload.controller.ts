/** Uploads (SPEC.md 4.1): a form whose part `file` streams to the provider. As plain as downloads are (content.controller.ts). */
import { applyDecorators, Controller, HttpStatus, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiParam, ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import { BodyReader } from '../../http/bodies/body-reader';
import type { UploadForm } from '../files/upload-form';
import { UPLOAD_PARAMETERS, UploadParameter, UploadService } from '../files/upload.service';
import { QuotaWarnings } from '../quotas/quota-warnings';
import { invalidParameters } from '../storage.errors';
import { FileDto } from './dto/records';
import { bucketAddressOf } from './dto/text';
import { MAX_WAITING, openMultipartForm } from './multipart-form';
import { sendData } from './send-envelope';
import { Failures, QUOTA_HEADER, StorageAccess, Success } from './storage-api.decorator';

const QUERY: Readonly<Record<UploadParameter, { description: string; enum?: string[] }>> = {
  filename: { description: "Overrides the file's own name" },
  contentType: { description: 'Counts where the content does not tell its type' },
  upsert: { description: 'Takes the place of a file of that name', enum: ['true', 'false'] },
  metadata: { description: 'A JSON object' },
};

/** Documents what the query string may give. */
const UploadQuery = (): MethodDecorator =>
  applyDecorators(
    ...UPLOAD_PARAMETERS.map((name) => ApiQuery({ name, type: String, required: false, ...QUERY[name] })),
  );

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
  @ApiParam({ name: 'bucket_name', type: String })
  @UploadQuery()
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
  @Failures(403, 404, 409, 413, 415)
  async upload(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = callerOf(request);
    const { record, isNew, marks } = await this.uploads.upload(caller, {
      bucket: bucketAddressOf(String(request.params.bucket_name)),
      given: givenBy(request.query),
      announcedLength: lengthOf(request),
      withForm: (held, work) => this.withForm(request, held, work),
    });
    this.warnings.tell(caller.project, record, marks, response);
    sendData(response, record, isNew ? HttpStatus.CREATED : HttpStatus.OK);
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

/** @throws AppError 400 */
function givenBy(query: Request['query']): Partial<Record<UploadParameter, string>> {
  const given: Partial<Record<UploadParameter, string>> = {};
  for (const name of UPLOAD_PARAMETERS) {
    const value = query[name];
    if (value === undefined) continue;
    if (typeof value !== 'string') throw invalidParameters(`${name} must be given once`);
    const choices = QUERY[name].enum;
    if (choices?.includes(value) === false)
      throw invalidParameters(`${name} must be one of the following values: ${choices.join(', ')}`);
    given[name] = value;
  }
  return given;
}

function lengthOf(request: Request): number | null {
  const text = request.headers['content-length'];
  return text === undefined ? null : Number(text);
}
