/**
 * The three routes that send a file's bytes: with a bearer token, by signed URL, and as a preview of a file in a public bucket.
 * They are the busiest of storage, so they read the request themselves: Nest's parameters and pipes cost more than that.
 */
import { applyDecorators, Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { callerOf } from '../../access/current-caller.decorator';
import { PublicRoute } from '../../access/public-route.decorator';
import { Project } from '../../projects/project';
import { projectNotFound } from '../../projects/projects.errors';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { cacheControlFor } from '../buckets/cache-control';
import { FileContent } from '../files/file';
import { FileContentRepository } from '../files/file-content.repository';
import { StorageRateLimiter } from '../rate-limit/storage-rate-limiter';
import { anonContext } from '../service-context';
import { SignedUrlsService } from '../signed-urls/signed-urls.service';
import { previewDisposition } from './active-types';
import { ContentResponder } from './content-responder';
import { DownloadQuery } from './dto/files.dto';
import { validQuery } from './dto/validated';
import { setRateHeaders } from './rate-headers';
import { Failures, NeedsCaller, StorageDocs } from './storage-api.decorator';

/** Named for each response, because errors of the same route are JSON. */
const Bytes = (mediaType: string): MethodDecorator => {
  const content = { [mediaType]: { schema: { type: 'string', format: 'binary' } } };
  return applyDecorators(
    ApiResponse({ status: 200, description: 'The bytes', content }),
    ApiResponse({ status: 206, description: 'The requested ranges', content }),
    ApiResponse({ status: 304, description: 'The client has the current bytes' }),
  );
};

const DownloadName = (): MethodDecorator =>
  ApiQuery({
    name: 'download',
    type: String,
    required: false,
    description: "Filename for saving; empty: the file's own",
  });

@StorageDocs()
@ApiParam({ name: 'file_id', type: String })
@Controller('p/:project_slug/storage/files/:file_id')
export class ContentController {
  constructor(
    private readonly files: FileContentRepository,
    private readonly links: SignedUrlsService,
    private readonly responder: ContentResponder,
    private readonly limiter: StorageRateLimiter,
    private readonly registry: ProjectRegistry,
  ) {}

  @NeedsCaller()
  @Get('download')
  @ApiOperation({ summary: 'Download a file', operationId: 'downloadFile' })
  @DownloadName()
  @Bytes('application/octet-stream')
  @Failures(404, 412, 416)
  async download(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = callerOf(request);
    const id = fileIdOf(request);
    await this.responder.send(request, response, {
      disposition: () => 'attachment',
      cacheControl: ({ bucket }) => cacheControlFor('download', bucket),
      downloadName: downloadNameOf(request),
      find: () => this.files.findContent(caller, id),
    });
  }

  @PublicRoute('the address is the credential')
  @Get('signed')
  @ApiOperation({ summary: 'Download a file by its signed address', operationId: 'downloadSigned' })
  @ApiQuery({ name: 'expires', type: String })
  @ApiQuery({ name: 'revision', type: String })
  @ApiQuery({ name: 'signature', type: String })
  @DownloadName()
  @Bytes('application/octet-stream')
  @Failures(404, 412, 416)
  async signed(@Req() request: Request, @Res() response: Response): Promise<void> {
    const project = await this.projectOf(request);
    // The signature is verified before any other parameter is read.
    const claims = this.links.verify(project, fileIdOf(request), request.query);
    await this.count(project, response);
    const downloadName = downloadNameOf(request);
    await this.responder.send(request, response, {
      disposition: () => 'attachment',
      cacheControl: ({ bucket }) => cacheControlFor('signed', bucket, this.links.secondsLeft(claims)),
      downloadName,
      find: () => this.links.resolve(project, claims),
    });
  }

  @PublicRoute('only files in public buckets')
  @Get('preview')
  @ApiOperation({ summary: 'Show a file of a public bucket', operationId: 'previewFile' })
  @DownloadName()
  @Bytes('*/*')
  @Failures(404, 412, 416)
  async preview(@Req() request: Request, @Res() response: Response): Promise<void> {
    const downloadName = downloadNameOf(request);
    const project = await this.projectOf(request);
    const id = fileIdOf(request);
    const find = (): Promise<FileContent | null> => this.files.findPublicContent(anonContext(project), id);
    const client = request.ip ?? '';
    if (!(await this.limiter.mayMiss(project, client)))
      throw rateLimited((await this.limiter.miss(project, client)).retryAfter);
    const file = await find();
    if (file) await this.count(project, response);
    else await this.limiter.miss(project, client);
    let first: FileContent | null | undefined = file;
    await this.responder.send(request, response, {
      disposition: ({ contentType }) =>
        downloadName === undefined
          ? previewDisposition(contentType, project.settings.preview_pdf_inline)
          : 'attachment',
      cacheControl: ({ bucket }) => cacheControlFor('preview', bucket),
      downloadName,
      find: async () => {
        const found = first === undefined ? await find() : first;
        first = undefined;
        return found;
      },
    });
  }

  private async projectOf({ params }: Request): Promise<Project> {
    const project = await this.registry.findBySlug(String(params.project_slug));
    if (!project) throw projectNotFound();
    return project;
  }

  /** Counts a request that was found to be valid. @throws AppError 429 */
  private async count(project: Project, response: Response): Promise<void> {
    const state = await this.limiter.hit(project);
    setRateHeaders(response, state);
    if (!state.allowed) throw rateLimited(state.retryAfter);
  }
}

const fileIdOf = ({ params }: Request): string => String(params.file_id);

/** @throws AppError 400 */
function downloadNameOf({ query }: Request): string | undefined {
  return query.download === undefined ? undefined : validQuery(DownloadQuery, query).download;
}
