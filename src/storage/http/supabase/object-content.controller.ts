/** The bytes of files, and pictures made from them, for storage-js: with credentials, by signed URL, and in public buckets. */
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
import { ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller } from '../../../access/caller';
import { callerOf, CurrentCaller } from '../../../access/current-caller.decorator';
import { PublicRoute } from '../../../access/public-route.decorator';
import { JsonBodyInterceptor } from '../../../http/bodies/json-body.interceptor';
import { type DocumentedHeaders, TEXT } from '../../../http/docs/documented-headers';
import { BINARY } from '../../../http/docs/documented-types';
import { ErrorList } from '../../../http/docs/error-docs';
import {
  Describe,
  Errors,
  QueryText,
  RequestHeader,
  StreamAnswer,
} from '../../../http/docs/operation.decorators';
import { Project } from '../../../projects/project';
import { FileContent } from '../../files/file';
import { FileContentRepository } from '../../files/file-content.repository';
import { Rendition, RenditionsService, TOO_MANY_PICTURES } from '../../pictures/renditions.service';
import { textOf } from '../../pictures/transformation';
import { anonContext } from '../../storage-transaction';
import { SignedUrlsService } from '../../signed-urls/signed-urls.service';
import {
  fileNotFound,
  fileTooLarge,
  invalidParameters,
  invalidSignature,
  pictureNotSupported,
  pictureUnusable,
  preconditionFailed,
  rangeNotSatisfiable,
  signedUrlExpired,
} from '../../storage.errors';
import { CONTENT_HEADERS, downloadNameOf } from '../content.controller';
import { ContentResponder } from '../content-responder';
import { BucketAddressPipe } from '../dto/text';
import { validQuery } from '../dto/validated';
import { KeylessRequests } from '../keyless-requests.service';
import {
  SignedObjectItemResponse,
  SignedObjectResponse,
  SignObjectDto,
  SignObjectsDto,
  TransformDto,
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
    QueryText('download', 'Filename to save as'),
    StreamAnswer(
      'The bytes; ranges and conditions as for `downloadFile`',
      { '*/*': null },
      CONTENT_HEADERS,
      BINARY,
    ),
  );

const PICTURE_HEADERS: DocumentedHeaders = {
  ...CONTENT_HEADERS,
  Vary: { description: '`Accept`', schema: TEXT },
  'X-Transformations': { description: 'The options of the picture', schema: TEXT },
};

const Picture = (): MethodDecorator =>
  applyDecorators(
    ObjectPath(),
    QueryText('download', 'Filename to save as'),
    RequestHeader('Accept', '`image/avif` or `image/webp` chooses that format, unless the options have one'),
    StreamAnswer(
      'The picture; ranges and conditions as for `downloadFile`',
      { 'image/*': null },
      PICTURE_HEADERS,
      BINARY,
    ),
  );

const TransformQuery = (): MethodDecorator => ApiQuery({ type: TransformDto });

const PICTURE_ERRORS: ErrorList = [
  invalidParameters('width must not be greater than 2500'),
  pictureUnusable(),
  pictureNotSupported('image/svg+xml'),
  fileTooLarge(52_428_800),
  TOO_MANY_PICTURES,
];

const NOT_FOUND = 'Either the object does not exist or you do not have access to it';

@StorageJsDocs()
@Controller(STORAGE_JS)
export class ObjectContentController {
  constructor(
    private readonly files: FileContentRepository,
    private readonly renditions: RenditionsService,
    private readonly links: SignedUrlsService,
    private readonly responder: ContentResponder,
    private readonly requests: KeylessRequests,
  ) {}

  @NeedsKey()
  @Post(`object/sign/${OBJECT}`)
  @UseInterceptors(JsonBodyInterceptor)
  @ObjectPath()
  @Describe(`Sign a URL for a file (storage-js)
    The URL is valid for the given seconds, and needs no headers. With transform it shows that picture, and no other.`)
  @Success(200, 'The URL', SignedObjectResponse)
  @Errors(invalidParameters('expiresIn must be an integer number'), fileNotFound())
  async signObject(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() { expiresIn, transform }: SignObjectDto,
  ): Promise<SignedObjectResponse> {
    const address = objectOf(request);
    const { bucket, filename } = address;
    const text = transform && textOf(transform);
    const tokens = await this.links.createTokens(caller, bucket, [filename], expiresIn, text);
    const token = tokens.get(filename);
    if (token === undefined) throw fileNotFound();
    return {
      signedURL: `/${transform ? 'render/image' : 'object'}/sign/${urlPathOf(address)}?token=${token}`,
    };
  }

  @NeedsKey()
  @Post('object/sign/:bucket_name')
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
  @Get(`object/sign/${OBJECT}`)
  @Bytes()
  @QueryText('token', 'From the signed URL', 'k3v9.0b6f')
  @Describe(`Download a file by its signed URL (storage-js)
    The URL is the credential. It ends when the file is renamed or its URLs are revoked.`)
  @Errors(invalidSignature(), signedUrlExpired(), CONTENT_ERRORS)
  downloadSignedObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendSigned(request, response, false);
  }

  @PublicRoute('the address is the credential')
  @Get(`render/image/sign/${OBJECT}`)
  @Picture()
  @QueryText('token', 'From the signed URL', 'k3v9.0b6f')
  @Describe(`Show a picture by its signed URL (storage-js)
    The transformation is part of the signature; parameters of the query have no effect.`)
  @Errors(invalidSignature(), signedUrlExpired(), CONTENT_ERRORS, PICTURE_ERRORS)
  renderSignedImage(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendSigned(request, response, true);
  }

  @PublicRoute('only files in public buckets')
  @Get(`object/public/${OBJECT}`)
  @Bytes()
  @Describe(`Download a file of a public bucket (storage-js)
    Needs no credential. Types that could run scripts are sent as an attachment.`)
  @Errors(CONTENT_ERRORS)
  async downloadPublicObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.sendPublic(request, response);
  }

  @PublicRoute('only files in public buckets')
  @Get(`render/image/public/${OBJECT}`)
  @Picture()
  @TransformQuery()
  @Describe(`Show a picture of a public bucket (storage-js)
    Needs no credential. Made once for each combination of options.`)
  @Errors(CONTENT_ERRORS, PICTURE_ERRORS)
  async renderPublicImage(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.sendPublic(request, response, transformationOf(request));
  }

  @NeedsKey()
  @Get(`object/authenticated/${OBJECT}`)
  @Bytes()
  @Describe(`Download a file (storage-js)
    Supports ranges and conditional requests (RFC 9110).`)
  @Errors(CONTENT_ERRORS)
  downloadAuthenticatedObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.downloadObject(request, response);
  }

  @NeedsKey()
  @Get(`object/${OBJECT}`)
  @Bytes()
  @Describe(`Download a file (storage-js)
    Supports ranges and conditional requests (RFC 9110).`)
  @Errors(CONTENT_ERRORS)
  downloadObject(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendNamed(request, response);
  }

  @NeedsKey()
  @Get(`render/image/authenticated/${OBJECT}`)
  @Picture()
  @TransformQuery()
  @Describe(`Show a picture (storage-js)
    The policies of the file decide. Made once for each combination of options.`)
  @Errors(CONTENT_ERRORS, PICTURE_ERRORS)
  renderAuthenticatedImage(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendNamed(request, response, transformationOf(request));
  }

  private async sendSigned(request: Request, response: Response, isPicture: boolean): Promise<void> {
    const project = await this.requests.projectOf(request);
    const claims = this.links.verifyToken(project, request.query.token);
    const { transformation } = claims;
    if (isPicture !== (transformation !== undefined)) throw invalidSignature();
    await this.requests.count(project, response);
    const { filename } = objectOf(request);
    const find = async (): Promise<FileContent> => {
      const file = await this.links.resolve(project, claims);
      // The signed URL contains the filename at the time of signing; the file may have been renamed since.
      if (file.filename !== filename) throw fileNotFound();
      return file;
    };
    const secondsLeft = this.links.secondsLeft(claims);
    await this.send(request, response, project, { route: 'signed', secondsLeft, transformation, find });
  }

  private async sendPublic(request: Request, response: Response, transformation?: string): Promise<void> {
    const downloadName = downloadNameOf(request);
    const project = await this.requests.projectOf(request);
    const { bucket, filename } = objectOf(request);
    const find = this.pictures(request, response, project, transformation, () =>
      this.files.findNamedContent(anonContext(project), bucket, filename, true),
    );
    await this.requests.sendPublic(request, response, project, { downloadName, find });
  }

  private sendNamed(request: Request, response: Response, transformation?: string): Promise<void> {
    const caller = callerOf(request);
    const { bucket, filename } = objectOf(request);
    const find = (): Promise<FileContent | null> => this.files.findNamedContent(caller, bucket, filename);
    return this.send(request, response, caller.project, { route: 'download', transformation, find });
  }

  private send(
    request: Request,
    response: Response,
    project: Project,
    { route, find, secondsLeft, transformation }: WantedFile,
  ): Promise<void> {
    const downloadName = downloadNameOf(request);
    return this.responder.send(request, response, {
      route,
      secondsLeft,
      pdfInline: downloadName === undefined ? project.settings.preview_pdf_inline : undefined,
      downloadName,
      find: this.pictures(request, response, project, transformation, find),
    });
  }

  /** Finds the picture in place of the file. */
  private pictures(
    request: Request,
    response: Response,
    project: Project,
    transformation: string | undefined,
    find: () => Promise<FileContent | null>,
  ): () => Promise<Rendition | null> {
    if (transformation === undefined) return find;
    let previous: FileContent | null = null;
    return async () => {
      const file = await find();
      if (!file) return null;
      const isLost = previous?.address.objectId === file.address.objectId;
      previous = file;
      const accept = request.get('accept');
      const picture = await this.renditions.rendition(project, file, transformation, accept, isLost);
      response.vary('Accept').set('X-Transformations', transformation);
      return picture;
    };
  }
}

/** @throws AppError 400 for invalid options */
const transformationOf = ({ query }: Request): string => textOf(validQuery(TransformDto, query));

interface WantedFile {
  /** As returned by textOf(); undefined for the file itself. */
  readonly transformation: string | undefined;
  readonly route: 'download' | 'signed';
  readonly find: () => Promise<FileContent | null>;
  /** Seconds until a signed URL expires. */
  readonly secondsLeft?: number;
}
