/**
 * The three routes that send a file's bytes: with a bearer token, by signed URL, and as a preview of a file
 * in a public bucket. They are the most used routes of storage, so they read the request themselves: Nest's
 * parameters and pipes would cost more than the rest of the work.
 */
import { applyDecorators, Controller, Get, Req, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import { PublicRoute } from '../../access/public-route.decorator';
import { FileContent } from '../files/file';
import { FileContentRepository } from '../files/file-content.repository';
import { anonContext } from '../storage-transaction';
import { SignedUrlsService } from '../signed-urls/signed-urls.service';
import { ContentResponder } from './content-responder';
import { DownloadQuery } from './dto/files.dto';
import { validQuery } from './dto/validated';
import { KeylessRequests } from './keyless-requests.service';
import { NeedsCaller, StorageDocs, RATE_HEADERS } from './storage-api.decorator';
import { DocumentedHeaders, TEXT } from '../../http/docs/documented-headers';
import { BINARY } from '../../http/docs/documented-types';
import { ErrorList } from '../../http/docs/error-docs';
import {
  invalidParameters,
  invalidSignature,
  signedUrlExpired,
  fileNotFound,
  preconditionFailed,
  rangeNotSatisfiable,
} from '../storage.errors';
import {
  Describe,
  EmptyAnswer,
  Errors,
  QueryText,
  RequestHeader,
  SharedErrors,
  StreamAnswer,
} from '../../http/docs/operation.decorators';

/** Declared for each response, because error responses of the same route are JSON. */
/** Headers of every response about the bytes of a file, including 304. */
export const CONTENT_HEADERS: DocumentedHeaders = {
  ...RATE_HEADERS,
  'Accept-Ranges': { description: '`bytes`', schema: TEXT },
  'Cache-Control': { description: 'Of the bucket, or `private, no-cache`', schema: TEXT },
  'Content-Disposition': { description: 'Whether to show or save the file, and its name', schema: TEXT },
  'Content-Security-Policy': { description: 'A sandbox without scripts', schema: TEXT },
  'Cross-Origin-Resource-Policy': { description: '`cross-origin`', schema: TEXT },
  ETag: { description: 'The SHA-256 of the bytes, in hexadecimal digits and quotes', schema: TEXT },
  'Last-Modified': { description: 'When the file was last changed', schema: TEXT },
  'Referrer-Policy': { description: '`no-referrer`', schema: TEXT },
  'X-Content-Type-Options': { description: '`nosniff`', schema: TEXT },
};

const CONTENT_RANGE: DocumentedHeaders = {
  'Content-Range': { description: 'The range that is sent; absent for several ranges', schema: TEXT },
};

/** The headers of ranges and conditions (RFC 9110, 13 and 14), by their names. */
const REQUEST_HEADERS: Readonly<Record<string, string>> = {
  Range: 'The requested bytes: `bytes=0-1023`, `bytes=-500`',
  'If-Range':
    'The ETag or date of the part that the client has; if the file changed since, all bytes are sent',
  'If-Match': '412 unless the file has this ETag',
  'If-None-Match': 'The ETag that the client has; 304 if the file still has it',
  'If-Modified-Since': 'The Last-Modified date that the client has; 304 if the file has not changed since',
  'If-Unmodified-Since': '412 if the file changed after this date',
};

const Bytes = (mediaType: string): MethodDecorator =>
  applyDecorators(
    ...Object.entries(REQUEST_HEADERS).map(([name, description]) => RequestHeader(name, description)),
    StreamAnswer('The bytes', { [mediaType]: null }, CONTENT_HEADERS, BINARY),
    ApiResponse({
      status: 206,
      description: 'The requested ranges',
      headers: { ...CONTENT_HEADERS, ...CONTENT_RANGE },
      content: { [mediaType]: { schema: BINARY }, 'multipart/byteranges': { schema: BINARY } },
    }),
    EmptyAnswer(304, 'The client already has the current content', CONTENT_HEADERS),
  );

const DownloadName = (): MethodDecorator =>
  QueryText('download', "Filename to save as; empty for the file's own");

/** Errors of every answer with the bytes of a file. */
const CONTENT_ERRORS: ErrorList = [
  invalidParameters('download must be given once'),
  fileNotFound(),
  preconditionFailed(),
  rangeNotSatisfiable(1_024),
];

@StorageDocs()
@SharedErrors(CONTENT_ERRORS)
@Controller('p/:project_slug/storage/files/:file_id')
export class ContentController {
  constructor(
    private readonly files: FileContentRepository,
    private readonly links: SignedUrlsService,
    private readonly responder: ContentResponder,
    private readonly requests: KeylessRequests,
  ) {}

  @NeedsCaller()
  @Get('download')
  @Describe(`Download a file
    Needs apikey and bearer; the project's policies apply. Supports ranges and conditional requests (RFC 9110); several ranges are sent as \`multipart/byteranges\`. The file is always sent as an attachment.`)
  @DownloadName()
  @Bytes('application/octet-stream')
  async downloadFile(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = callerOf(request);
    const id = fileIdOf(request);
    await this.responder.send(request, response, {
      route: 'download',
      downloadName: downloadNameOf(request),
      find: () => this.files.findContent(caller, id),
    });
  }

  @PublicRoute('the address is the credential')
  @Get('signed')
  @Describe(`Download a file by its signed URL
    The URL is the credential, so no header is needed. Its parameters must not be changed; \`download\` may be added.`)
  @QueryText('expires', 'From the signed URL', '1767225600')
  @QueryText('revision', 'From the signed URL', '0')
  @QueryText('signature', 'From the signed URL', 'r0Xc2v')
  @DownloadName()
  @Bytes('application/octet-stream')
  @Errors(invalidSignature(), signedUrlExpired())
  async downloadSigned(@Req() request: Request, @Res() response: Response): Promise<void> {
    const project = await this.requests.projectOf(request);
    // The signature is verified before any other parameter is read.
    const claims = this.links.verify(project, fileIdOf(request), request.query);
    await this.requests.count(project, response);
    const downloadName = downloadNameOf(request);
    await this.responder.send(request, response, {
      route: 'signed',
      secondsLeft: this.links.secondsLeft(claims),
      downloadName,
      find: () => this.links.resolve(project, claims),
    });
  }

  @PublicRoute('only files in public buckets')
  @Get('preview')
  @Describe(`Show a file of a public bucket
    Needs no credential. The file is displayed inline, in a sandbox; types that could run scripts are sent as an attachment. Client addresses that request many nonexistent files are throttled (429).`)
  @DownloadName()
  @Bytes('*/*')
  async previewFile(@Req() request: Request, @Res() response: Response): Promise<void> {
    const downloadName = downloadNameOf(request);
    const project = await this.requests.projectOf(request);
    const id = fileIdOf(request);
    const find = (): Promise<FileContent | null> => this.files.findPublicContent(anonContext(project), id);
    await this.requests.sendPublic(request, response, project, { downloadName, find });
  }
}

const fileIdOf = ({ params }: Request): string => String(params.file_id);

/** @throws AppError 400 for an invalid name */
export function downloadNameOf({ query }: Request): string | undefined {
  return query.download === undefined ? undefined : validQuery(DownloadQuery, query).download;
}
