/** Uploads: a form whose part `file` streams to the provider. Validates without Nest's pipes, like downloads. */
import { applyDecorators, Controller, HttpStatus, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import { BodyReader } from '../../http/bodies/body-reader';
import { announcedLength } from '../../http/bodies/read-body';
import { FileRecord } from '../files/file';
import { UPLOAD_PARAMETERS, type UploadForm, type UploadParameters } from '../files/upload';
import { UploadService } from '../files/upload.service';
import { warnOfQuotas } from '../quotas/quota-warnings';
import { FileResponse } from './dto/storage-responses';
import { bucketAddressOf } from './dto/text';
import { MAX_WAITING, openMultipartForm } from './multipart-form';
import { QUOTA_HEADER, StorageAccess, Success } from './storage-api.decorator';
import { ErrorList } from '../../http/docs/error-docs';
import {
  invalidParameters,
  forbidden,
  bucketNotFound,
  fileAlreadyExists,
  fileInfected,
  fileTooLarge,
  quotaExceeded,
  scannerUnavailable,
  unsupportedMediaType,
  uploadStalled,
} from '../storage.errors';
import { noMemoryForBody } from '../../admission/memory-budget';
import { bodyIsEncoded } from '../../http/bodies/body.errors';
import { SchemaObject } from '../../http/docs/documented-types';
import { Describe, Errors, QueryText } from '../../http/docs/operation.decorators';

const FORM = {
  type: 'object',
  required: ['file'],
  properties: {
    filename: { type: 'string', description: "Default: the file's own name", example: 'reports/2026.txt' },
    contentType: {
      type: 'string',
      description: 'Used if the type cannot be detected from the content',
      example: 'text/plain',
    },
    upsert: {
      type: 'string',
      enum: ['true', 'false'],
      description: '`true` replaces a file of that name; default: `false`',
      example: 'true',
    },
    metadata: { type: 'string', description: 'A JSON object', example: '{"year":2026}' },
    file: { type: 'string', format: 'binary' },
  },
} as const satisfies SchemaObject;

const FORM_EXAMPLE = {
  filename: 'reports/2026.txt',
  contentType: 'text/plain',
  upsert: 'true',
  metadata: '{"year":2026}',
  file: 'Hello from Plinth',
};
const FORM_BODY = {
  required: true,
  schema: FORM,
  examples: { example: { summary: 'Example', value: FORM_EXAMPLE } },
};

const UPLOAD_ERRORS: ErrorList = [
  invalidParameters('The form has no part named "file" that holds a file'),
  forbidden(),
  bucketNotFound(),
  uploadStalled(),
  fileAlreadyExists(),
  fileTooLarge(52_428_800),
  quotaExceeded('bucket', 'bytes', 1_073_741_824),
  unsupportedMediaType('text/html'),
  bodyIsEncoded('gzip'),
  fileInfected('Win.Test.EICAR_HDB-1'),
  scannerUnavailable(),
  noMemoryForBody(),
];

const QueryDocs = (): MethodDecorator =>
  applyDecorators(
    QueryText('filename', "Overrides the file's own name"),
    QueryText('contentType', 'Used if the type cannot be detected from the content'),
    ApiQuery({
      name: 'upsert',
      type: String,
      required: false,
      enum: ['true', 'false'],
      description: 'Replaces an existing file of that name',
    }),
    QueryText('metadata', 'A JSON object'),
  );

@StorageAccess()
@Controller('p/:project_slug/storage/buckets/:bucket_name/upload')
export class UploadController {
  constructor(
    private readonly uploads: UploadService,
    private readonly bodies: BodyReader,
  ) {}

  @Post()
  @Describe(`Upload a file
    Needs apikey and bearer; the project's policies apply. The upload is streamed; the file becomes visible when all of its bytes are stored. Query parameters take precedence over fields of the form; fields after the file are ignored. The type is detected from the content.`)
  @QueryDocs()
  @ApiConsumes('multipart/form-data')
  @ApiBody(FORM_BODY)
  @Success(201, 'The file', FileResponse, QUOTA_HEADER)
  @Success(200, 'The file, which replaced an existing one (upsert)', FileResponse, QUOTA_HEADER)
  @Errors(UPLOAD_ERRORS)
  async uploadFile(@Req() request: Request, @Res() response: Response): Promise<FileRecord> {
    const caller = callerOf(request);
    const { record, isNew, marks } = await this.uploads.upload(caller, {
      bucket: bucketAddressOf(String(request.params.bucket_name)),
      given: parametersOf(request.query),
      announcedLength: announcedLength(request),
      receive: (held) => this.receive(request, held),
    });
    warnOfQuotas(caller.project, record, marks, response);
    response.status(isNew ? HttpStatus.CREATED : HttpStatus.OK);
    return record;
  }

  private async receive(request: Request, held: number): Promise<UploadForm> {
    const bytes = Math.min(announcedLength(request) ?? Infinity, held + MAX_WAITING);
    return openMultipartForm(request, this.bodies.pace, await this.bodies.reserve(request, bytes));
  }
}

/**
 * Validated without a DTO, which would take a twentieth of an upload. Other parameters are ignored.
 * @throws AppError 400 for an invalid value
 */
function parametersOf(query: Request['query']): UploadParameters {
  const given = UPLOAD_PARAMETERS.flatMap((name) =>
    query[name] === undefined ? [] : [[name, query[name]] as const],
  );
  const faults = given.flatMap(([name, value]) => {
    if (typeof value !== 'string') return [`${name} must be given once`];
    const isKnown = name !== 'upsert' || value === 'true' || value === 'false';
    return isKnown ? [] : ['upsert must be one of the following values: true, false'];
  });
  if (faults.length > 0) throw invalidParameters(faults.join('; '));
  return Object.fromEntries(given);
}
