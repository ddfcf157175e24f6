/** The bytes of files for storage-js: with credentials, by signed URL, and in public buckets. */
import {
  applyDecorators,
  Body,
  Controller,
  Get,
  Param,
  Post,
  Req,
  Res,
  UseInterceptors,
} from '@nestjs/common';
import { ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller } from '../../../access/caller';
import { callerOf, CurrentCaller } from '../../../access/current-caller.decorator';
import { PublicRoute } from '../../../access/public-route.decorator';
import { JsonBodyInterceptor } from '../../../http/bodies/json-body.interceptor';
import { ErrorList } from '../../../http/docs/error-docs';
import { Describe, Errors } from '../../../http/docs/operation.decorators';
import { Project } from '../../../projects/project';
import { cacheControlFor } from '../../buckets/cache-control';
import { FileContent } from '../../files/file';
import { FileContentRepository } from '../../files/file-content.repository';
import { anonContext } from '../../service-context';
import { SignedUrlsService } from '../../signed-urls/signed-urls.service';
import {
  fileNotFound,
  invalidParameters,
  invalidSignature,
  preconditionFailed,
  rangeNotSatisfiable,
  signedUrlExpired,
} from '../../storage.errors';
import { previewDisposition } from '../active-types';
import { CONTENT_HEADERS, downloadNameOf } from '../content.controller';
import { ContentResponder } from '../content-responder';
import { BucketAddressPipe } from '../dto/text';
import { KeylessRequests } from '../keyless-requests.service';
import {
  SignedObjectItemResponse,
  SignedObjectResponse,
  SignObjectDto,
  SignObjectsDto,
} from './dto/objects.dto';
import { OBJECT, objectOf, ObjectPath, urlPathOf } from './object-path';
import { NeedsKey, STORAGE_JS, StorageJsDocs, Success } from './storage-js-api.decorator';

const CONTENT_ERRORS: ErrorList = [
  invalidParameters('download must be given once'),
  fileNotFound(),
  preconditionFailed(),
  rangeNotSatisfiable(1_024),
];

const Bytes = (): MethodDecorator =>
  applyDecorators(
    ObjectPath(),
    ApiQuery({ name: 'download', type: String, required: false, description: 'Filename to save as' }),
    ApiResponse({
      status: 200,
      description: 'The bytes; ranges and conditions as for `downloadFile`',
      headers: CONTENT_HEADERS,
      content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
    }),
  );

const NOT_FOUND = 'Either the object does not exist or you do not have access to it';

@StorageJsDocs()
@Controller(`${STORAGE_JS}/object`)
export class ObjectContentController {
  constructor(
    private readonly files: FileContentRepository,
    private readonly links: SignedUrlsService,
    private readonly responder: ContentResponder,
    private readonly requests: KeylessRequests,
  ) {}

  @NeedsKey()
  @Post(`sign/${OBJECT}`)
  @UseInterceptors(JsonBodyInterceptor)
  @ObjectPath()
  @Describe(`Sign a URL for a file (storage-js)
    The URL is valid for the given seconds, and needs no headers.`)
  @Success(200, 'The URL', SignedObjectResponse)
  @Errors(invalidParameters('expiresIn must be an integer number'), fileNotFound())
  async signObject(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() { expiresIn }: SignObjectDto,
  ): Promise<SignedObjectResponse> {
    const address = objectOf(request);
    const tokens = await this.links.createTokens(caller, address.bucket, [address.filename], expiresIn);
    const token = tokens.get(address.filename);
    if (token === undefined) throw fileNotFound();
    return { signedURL: `/object/sign/${urlPathOf(address)}?token=${token}` };
  }

  @NeedsKey()
  @Post('sign/:bucket_name')
  @UseInterceptors(JsonBodyInterceptor)
  @Describe(`Sign URLs for several files (storage-js)
    Files that do not exist, or that the caller may not see, get an error in place of a URL.`)
  @Success(200, 'A URL or an error for each file', [SignedObjectItemResponse])
  @Errors(invalidParameters('paths must be an array'))
  async signObjects(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Body() { expiresIn, paths }: SignObjectsDto,
  ): Promise<SignedObjectItemResponse[]> {
    const tokens = await this.links.createTokens(caller, bucket, paths, expiresIn);
    return paths.map((path) => {
      const token = tokens.get(path);
      if (token === undefined) return { path, signedURL: null, error: NOT_FOUND };
      const signedURL = `/object/sign/${urlPathOf({ bucket, filename: path })}?token=${token}`;
      return { path, signedURL, error: null };
    });
  }

  @PublicRoute('the address is the credential')
  @Get(`sign/${OBJECT}`)
  @Bytes()
  @ApiQuery({ name: 'token', type: String, description: 'From the signed URL', example: 'k3v9.0b6f' })
  @Describe(`Download a file by its signed URL (storage-js)
    The URL is the credential. It ends when the file is renamed or its URLs are revoked.`)
  @Errors(invalidSignature(), signedUrlExpired(), CONTENT_ERRORS)
  async downloadSignedObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    const project = await this.requests.projectOf(request);
    const claims = this.links.verifyToken(project, request.query.token);
    await this.requests.count(project, response);
    const { filename } = objectOf(request);
    await this.send(request, response, project, {
      route: 'signed',
      secondsLeft: this.links.secondsLeft(claims),
      find: async () => {
        const file = await this.links.resolve(project, claims);
        // The URL names the file that it was signed for: it may have another name by now.
        if (file.filename !== filename) throw fileNotFound();
        return file;
      },
    });
  }

  @PublicRoute('only files in public buckets')
  @Get(`public/${OBJECT}`)
  @Bytes()
  @Describe(`Download a file of a public bucket (storage-js)
    Needs no credential. Types that could run scripts are sent as an attachment.`)
  @Errors(CONTENT_ERRORS)
  async downloadPublicObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    const downloadName = downloadNameOf(request);
    const project = await this.requests.projectOf(request);
    const { bucket, filename } = objectOf(request);
    const find = (): Promise<FileContent | null> =>
      this.files.findNamedContent(anonContext(project), bucket, filename, true);
    await this.requests.sendPublic(request, response, project, { downloadName, find });
  }

  @NeedsKey()
  @Get(`authenticated/${OBJECT}`)
  @Bytes()
  @Describe(`Download a file (storage-js)
    Supports ranges and conditional requests (RFC 9110).`)
  @Errors(CONTENT_ERRORS)
  downloadAuthenticatedObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.downloadObject(request, response);
  }

  @NeedsKey()
  @Get(OBJECT)
  @Bytes()
  @Describe(`Download a file (storage-js)
    Supports ranges and conditional requests (RFC 9110).`)
  @Errors(CONTENT_ERRORS)
  downloadObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = callerOf(request);
    const { bucket, filename } = objectOf(request);
    const find = (): Promise<FileContent | null> => this.files.findNamedContent(caller, bucket, filename);
    return this.send(request, response, caller.project, { route: 'download', find });
  }

  private send(
    request: Request,
    response: Response,
    { settings }: Project,
    { route, find, secondsLeft }: WantedFile,
  ): Promise<void> {
    const downloadName = downloadNameOf(request);
    return this.responder.send(request, response, {
      disposition: ({ contentType }) =>
        downloadName === undefined
          ? previewDisposition(contentType, settings.preview_pdf_inline)
          : 'attachment',
      cacheControl: ({ bucket }) => cacheControlFor(route, bucket, secondsLeft),
      downloadName,
      find,
    });
  }
}

interface WantedFile {
  readonly route: 'download' | 'signed';
  readonly find: () => Promise<FileContent | null>;
  /** Until a signed URL expires. */
  readonly secondsLeft?: number;
}
