/** Resumable uploads by TUS 1.0, as Uppy and tus-js-client send them. */
import { applyDecorators, Controller, Delete, Head, Options, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { callerOf } from '../../../access/current-caller.decorator';
import { PublicRoute } from '../../../access/public-route.decorator';
import { noMemoryForBody } from '../../../admission/memory-budget';
import { bodyIsEncoded } from '../../../http/bodies/body.errors';
import { BodyReader } from '../../../http/bodies/body-reader';
import { announcedLength } from '../../../http/bodies/read-body';
import { DocumentedHeaders, TEXT } from '../../../http/docs/documented-headers';
import { BINARY } from '../../../http/docs/documented-types';
import { ErrorList } from '../../../http/docs/error-docs';
import {
  Answer,
  Describe,
  Errors,
  PathErrors,
  RequestHeader,
  together,
} from '../../../http/docs/operation.decorators';
import { warnOfQuotas } from '../../quotas/quota-warnings';
import { ResumableUploadsService, UploadProgress } from '../../resumable/resumable-uploads.service';
import { ReceivedBytes } from '../../resumable/upload-writer.service';
import { checksumMismatch, uploadIsFinishing } from '../../resumable/resumable.errors';
import {
  bucketNotFound,
  fileAlreadyExists,
  fileInfected,
  fileTooLarge,
  invalidParameters,
  offsetTaken,
  quotaExceeded,
  scannerUnavailable,
  tooManyUploads,
  unsupportedMediaType,
  uploadNotFound,
  uploadStalled,
} from '../../storage.errors';
import { MAX_WAITING } from '../multipart-form';
import { RATE_HEADERS } from '../storage-api.decorator';
import { openRawBody } from './raw-body';
import { NeedsKey, STORAGE_JS, StorageJsDocs } from './storage-js-api.decorator';
import {
  assertBytes,
  assertTus,
  byteCount,
  CAPABILITIES,
  checksumOf,
  concatOf,
  hasBytes,
  setStateHeaders,
  setUploadHeaders,
  TUS_VERSION,
  wrongTusVersion,
} from './tus-headers';

const OFFSET = { description: 'Bytes that are stored', schema: { type: 'integer', minimum: 0 } } as const;
/** A header of requests. Declared as text, because fetch and some generated clients accept only texts. */
const COUNT = { type: 'string', pattern: String.raw`^\d+$`, example: '0' } as const;
const UPLOAD_HEADERS: DocumentedHeaders = {
  ...RATE_HEADERS,
  'Tus-Resumable': { description: 'The version of the protocol', schema: TEXT },
  'Upload-Offset': OFFSET,
  'Upload-Expires': { description: 'When the unfinished upload is removed', schema: TEXT },
};

const LAST_ERRORS: ErrorList = [
  bucketNotFound(),
  uploadStalled(),
  fileAlreadyExists(),
  fileTooLarge(52_428_800),
  quotaExceeded('bucket', 'bytes', 1_073_741_824),
  unsupportedMediaType('text/html'),
  bodyIsEncoded('gzip'),
  checksumMismatch(),
  fileInfected('Win.Test.EICAR_HDB-1'),
  scannerUnavailable(),
  noMemoryForBody(),
];

const Version = (): MethodDecorator =>
  RequestHeader(
    'Tus-Resumable',
    'The version of the protocol',
    { type: 'string', enum: [TUS_VERSION], example: TUS_VERSION },
    true,
  );

const Bytes = (required: boolean): MethodDecorator =>
  applyDecorators(
    ApiConsumes('application/offset+octet-stream'),
    ApiBody({ required, schema: BINARY }),
    RequestHeader('Upload-Checksum', '`sha1`, `sha256` or `md5`, and the digest of the body in base64'),
  );

const BEGIN_UPLOAD_DOCS = together(
  Bytes(false),
  RequestHeader('Upload-Length', 'Bytes of the file', COUNT),
  RequestHeader(
    'Upload-Metadata',
    'Keys with values in base64: `bucketName`, `objectName`, `contentType`, `cacheControl`, `metadata`',
    { type: 'string', example: 'bucketName YXZhdGFycw==,objectName YS5wbmc=' },
  ),
  RequestHeader('Upload-Concat', '`partial`, or `final;` and URLs'),
  RequestHeader('x-upsert', '`true` replaces the file'),
  Errors(
    invalidParameters('Upload-Length must be a number of bytes'),
    wrongTusVersion(),
    tooManyUploads(1_000),
    LAST_ERRORS,
  ),
);

const CONTINUE_UPLOAD_DOCS = together(
  Bytes(true),
  RequestHeader('Upload-Offset', 'Bytes that are stored', COUNT, true),
  Errors(
    invalidParameters('Upload-Offset must be a number of bytes'),
    offsetTaken(1_048_576),
    wrongTusVersion(),
    uploadIsFinishing(),
    LAST_ERRORS,
  ),
);

const BEGUN_HEADERS: DocumentedHeaders = {
  ...UPLOAD_HEADERS,
  Location: { description: 'The URL of the upload', schema: TEXT },
};
const STATE_HEADERS: DocumentedHeaders = {
  ...UPLOAD_HEADERS,
  'Upload-Length': { ...OFFSET, description: 'Bytes of the file' },
};

@StorageJsDocs()
@PathErrors({ ':upload_id': uploadNotFound() })
@Controller(`${STORAGE_JS}/upload/resumable`)
export class ResumableUploadsController {
  constructor(
    private readonly uploads: ResumableUploadsService,
    private readonly bodies: BodyReader,
  ) {}

  @PublicRoute('it describes the protocol')
  @Options()
  @Describe(`Read what the server supports of TUS
    Version, extensions and algorithms of digests.`)
  @Answer(204, 'The capabilities', undefined, RATE_HEADERS)
  describeUploads(@Res({ passthrough: true }) response: Response): void {
    response.set(CAPABILITIES);
  }

  @NeedsKey()
  @Post()
  @Version()
  @Describe(`Begin a resumable upload (TUS)
    The policies decide here, and again when the last byte has arrived. The body may have the first bytes.`)
  @Answer(201, 'The upload; Location is its URL', undefined, BEGUN_HEADERS)
  @BEGIN_UPLOAD_DOCS
  async beginUpload(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    assertTus(request);
    const caller = callerOf(request);
    const concat = concatOf(request);
    const given = {
      uploadMetadata: request.get('upload-metadata') ?? '',
      concat: request.get('upload-concat') ?? null,
      upsert: request.get('x-upsert') === 'true',
    };
    let progress = Array.isArray(concat)
      ? await this.uploads.concatenate(caller, given, concat)
      : await this.uploads.create(caller, { ...given, length: byteCount(request, 'Upload-Length') });
    const { id, isCompleted } = progress.upload;
    if (hasBytes(request) && !isCompleted)
      progress = await this.uploads.append(caller, id, this.bytesOf(request, 0));
    response.location(`${request.originalUrl.split('?', 1)[0]}/${id}`);
    this.answer(request, response, progress);
  }

  @NeedsKey()
  @Head(':upload_id')
  @Version()
  @Describe(`Read the offset of a resumable upload (TUS)
    Only the user who began the upload and the service role may read it.`)
  @Answer(200, 'The state', undefined, STATE_HEADERS)
  @Errors(wrongTusVersion(), uploadIsFinishing())
  async readUpload(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    assertTus(request);
    const upload = await this.uploads.state(callerOf(request), String(request.params.upload_id));
    setUploadHeaders(response, upload);
    setStateHeaders(response, upload);
  }

  @NeedsKey()
  @Patch(':upload_id')
  @Version()
  @Describe(`Send bytes of a resumable upload (TUS)
    Bytes that arrived before the connection broke are kept. The file is visible after the last byte.`)
  @Answer(204, 'The bytes are stored', undefined, UPLOAD_HEADERS)
  @CONTINUE_UPLOAD_DOCS
  async continueUpload(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    assertTus(request);
    assertBytes(request);
    const bytes = this.bytesOf(request, byteCount(request, 'Upload-Offset'));
    const id = String(request.params.upload_id);
    this.answer(request, response, await this.uploads.append(callerOf(request), id, bytes));
  }

  @NeedsKey()
  @Delete(':upload_id')
  @Version()
  @Describe(`End a resumable upload (TUS)
    Removes its bytes. A completed upload is only forgotten; its file stays.`)
  @Answer(204, 'The upload is gone', undefined, RATE_HEADERS)
  @Errors(wrongTusVersion())
  async endUpload(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    assertTus(request);
    await this.uploads.remove(callerOf(request), String(request.params.upload_id));
    response.set('Tus-Resumable', TUS_VERSION);
  }

  private bytesOf(request: Request, offset: number): ReceivedBytes {
    return {
      offset,
      announcedLength: announcedLength(request),
      checksum: checksumOf(request),
      receive: async (held) => {
        const most = Math.min(announcedLength(request) ?? Infinity, held + MAX_WAITING);
        return openRawBody(request, this.bodies.pace, await this.bodies.reserve(request, most));
      },
    };
  }

  private answer(request: Request, response: Response, { upload, file }: UploadProgress): void {
    if (file) warnOfQuotas(callerOf(request).project, file.record, file.marks, response);
    setUploadHeaders(response, upload);
  }
}
