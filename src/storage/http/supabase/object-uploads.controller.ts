/** Uploads by storage-js: the file is the body, or the only file of a form; its name and the options are in path and headers. */
import { applyDecorators, Controller, HttpStatus, Post, Put, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { callerOf } from '../../../access/current-caller.decorator';
import { PublicRoute } from '../../../access/public-route.decorator';
import { noMemoryForBody } from '../../../admission/memory-budget';
import { bodyIsEncoded } from '../../../http/bodies/body.errors';
import { BodyReader } from '../../../http/bodies/body-reader';
import { announcedLength } from '../../../http/bodies/read-body';
import { BINARY } from '../../../http/docs/documented-types';
import { ErrorList } from '../../../http/docs/error-docs';
import {
  Describe,
  Errors,
  JsonBody,
  QueryText,
  RequestHeader,
} from '../../../http/docs/operation.decorators';
import { FileAddress } from '../../files/named-files.service';
import { UploadForm, UploadParameters, UploadRestriction } from '../../files/upload';
import { UploadService } from '../../files/upload.service';
import { warnOfQuotas } from '../../quotas/quota-warnings';
import { SignedUploadsService, type UploadClaims } from '../../signed-urls/signed-uploads.service';
import {
  bucketNotFound,
  fileAlreadyExists,
  fileInfected,
  fileTooLarge,
  invalidParameters,
  invalidSignature,
  quotaExceeded,
  scannerUnavailable,
  signedUrlExpired,
  unsupportedMediaType,
  uploadStalled,
} from '../../storage.errors';
import { StorageContext } from '../../storage-transaction';
import { isForm } from '../form-checks';
import { KeylessRequests } from '../keyless-requests.service';
import { MAX_WAITING, openMultipartForm } from '../multipart-form';
import { validBody } from '../dto/validated';
import { restrictionIn, SignUploadDto } from './dto/buckets.dto';
import { ObjectKeyResponse, SignedUploadResponse } from './dto/objects.dto';
import { toObjectKey } from './object-views';
import { OBJECT, objectOf, ObjectPath, urlPathOf } from './object-path';
import { openRawBody } from './raw-body';
import { NeedsKey, STORAGE_JS, StorageJsDocs, Success } from './storage-js-api.decorator';

const UPLOAD_ERRORS: ErrorList = [
  invalidParameters('filename must not contain control characters'),
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

const UploadBody = (): MethodDecorator =>
  applyDecorators(
    ObjectPath(),
    ApiConsumes('*/*', 'multipart/form-data'),
    ApiBody({ required: true, schema: BINARY }),
    RequestHeader('x-upsert', '`true` replaces the file'),
    RequestHeader('Cache-Control', 'Of the file'),
    RequestHeader('x-metadata', 'A JSON object in base64, kept with the file'),
  );

@StorageJsDocs()
@Controller(`${STORAGE_JS}/object`)
export class ObjectUploadsController {
  constructor(
    private readonly uploads: UploadService,
    private readonly signed: SignedUploadsService,
    private readonly bodies: BodyReader,
    private readonly requests: KeylessRequests,
  ) {}

  @NeedsKey()
  @Post(`upload/sign/${OBJECT}`)
  @ObjectPath()
  @Describe(`Sign an upload (storage-js)
    The URL is valid for two hours and for one file. The policies decide here, and again at the upload with the role and the id of the caller.`)
  @RequestHeader('x-upsert', '`true` allows to replace')
  @JsonBody(SignUploadDto, { required: false })
  @Success(200, 'The URL', SignedUploadResponse)
  @Errors(invalidParameters('filename must not be empty'), bucketNotFound())
  async signUpload(@Req() request: Request): Promise<SignedUploadResponse> {
    const address = objectOf(request);
    const options = { upsert: isUpsert(request), restriction: await this.restrictionOf(request) };
    const token = await this.signed.sign(callerOf(request), address, options);
    return { url: `/object/upload/sign/${urlPathOf(address)}?token=${token}` };
  }

  @PublicRoute('the address is the credential')
  @Put(`upload/sign/${OBJECT}`)
  @UploadBody()
  @QueryText('token', 'From the signed URL', 'k3v9.0b6f')
  @Describe(`Upload by a signed URL (storage-js)
    The URL is the credential. The policies decide with the role and the id of its signer.`)
  @Success(200, 'The file', ObjectKeyResponse)
  @Errors(invalidSignature(), signedUrlExpired(), UPLOAD_ERRORS)
  async uploadSigned(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ObjectKeyResponse> {
    const project = await this.requests.projectOf(request);
    const address = objectOf(request);
    const { context, ...options } = this.signed.verify(project, address, request.query.token);
    await this.requests.count(project, response);
    return this.receive(request, response, context, address, options);
  }

  @NeedsKey()
  @Post(OBJECT)
  @UploadBody()
  @Describe(`Upload a file (storage-js)
    The type is the declared one; it is detected from the content where none is declared.`)
  @Success(200, 'The file', ObjectKeyResponse)
  @Errors(UPLOAD_ERRORS)
  uploadObject(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ObjectKeyResponse> {
    return this.receive(request, response, callerOf(request), objectOf(request), {
      upsert: isUpsert(request),
    });
  }

  @NeedsKey()
  @Put(OBJECT)
  @UploadBody()
  @Describe(`Upload a file, or replace it (storage-js)
    As an upload with \`x-upsert: true\`.`)
  @Success(200, 'The file', ObjectKeyResponse)
  @Errors(UPLOAD_ERRORS)
  replaceObject(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ObjectKeyResponse> {
    return this.receive(request, response, callerOf(request), objectOf(request), { upsert: true });
  }

  private async receive(
    request: Request,
    response: Response,
    context: StorageContext,
    { bucket, filename }: FileAddress,
    { upsert, restriction }: Pick<UploadClaims, 'upsert' | 'restriction'>,
  ): Promise<ObjectKeyResponse> {
    const { record, marks } = await this.uploads.upload(context, {
      bucket,
      given: { ...optionsOf(request), filename, upsert: String(upsert) },
      announcedLength: announcedLength(request),
      restriction,
      receive: (held) => this.open(request, held),
    });
    warnOfQuotas(context.project, record, marks, response);
    response.status(HttpStatus.OK);
    return toObjectKey(record, bucket);
  }

  /** Clients send an empty object or no body. @throws AppError 400 for an invalid restriction */
  private async restrictionOf(request: Request): Promise<UploadRestriction | undefined> {
    if (announcedLength(request) === 0) return undefined;
    return this.bodies.useJson(request, async (body) => restrictionIn(validBody(SignUploadDto, body)));
  }

  private async open(request: Request, held: number): Promise<UploadForm> {
    const memory = await this.bodies.reserve(
      request,
      Math.min(announcedLength(request) ?? Infinity, held + MAX_WAITING),
    );
    return isForm(request.get('content-type') ?? '')
      ? openMultipartForm(request, this.bodies.pace, memory, { filePart: null, asDeclared: true })
      : openRawBody(request, this.bodies.pace, memory);
  }
}

const isUpsert = (request: Request): boolean => request.get('x-upsert') === 'true';

/** Options from headers; the options of a form are in its fields. */
function optionsOf(request: Request): UploadParameters {
  if (isForm(request.get('content-type') ?? '')) return {};
  const metadata = request.get('x-metadata');
  return {
    cacheControl: request.get('cache-control'),
    ...(metadata === undefined ? {} : { metadata: Buffer.from(metadata, 'base64').toString() }),
  };
}
