/** The three addresses that send a file's bytes: with a bearer, signed, and as a preview from a public bucket. */
import { applyDecorators, Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { PublicRoute } from '../../access/public-route.decorator';
import { Project } from '../../projects/project';
import { projectNotFound } from '../../projects/projects.errors';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { cacheControlFor } from '../buckets/cache-control';
import { FileContent } from '../files/file';
import { FileContentRepository } from '../files/file-content.repository';
import { invalidParameters } from '../storage.errors';
import { StorageRateLimiter } from '../rate-limit/storage-rate-limiter';
import { anonContext } from '../service-context';
import { SignedUrlsService } from '../signed-urls/signed-urls.service';
import { previewDisposition } from './active-types';
import { ContentResponder } from './content-responder';
import { DownloadQuery, MAX_TEXT } from './dto/files.dto';
import { setRateHeaders } from './rate-headers';
import { Failures, NeedsCaller, StorageDocs } from './storage-api.decorator';

/** Errors are JSON all the same, so the media type is said of each answer. */
const Bytes = (mediaType: string): MethodDecorator => {
  const content = { [mediaType]: { schema: { type: 'string', format: 'binary' } } };
  return applyDecorators(
    ApiResponse({ status: 200, description: 'The bytes', content }),
    ApiResponse({ status: 206, description: 'The ranges that were asked for', content }),
    ApiResponse({ status: 304, description: 'The client has the current bytes' }),
  );
};

@StorageDocs()
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
  @Bytes('application/octet-stream')
  @Failures(404, 416)
  async download(
    @CurrentCaller() caller: Caller,
    @Param('file_id') id: string,
    @Query() { download }: DownloadQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.responder.send(request, response, {
      projectId: caller.project.id,
      disposition: 'attachment',
      cacheControl: ({ bucket }) => cacheControlFor('download', bucket),
      downloadName: download,
      find: () => this.files.findContent(caller, id),
    });
  }

  @PublicRoute('the address is the credential')
  @Get('signed')
  @ApiOperation({ summary: 'Download a file by its signed address', operationId: 'downloadSigned' })
  @ApiQuery({ name: 'expires', type: String })
  @ApiQuery({ name: 'revision', type: String })
  @ApiQuery({ name: 'signature', type: String })
  @ApiQuery({ name: 'download', type: String, required: false, description: 'Name to save the file under' })
  @Bytes('application/octet-stream')
  @Failures(404, 416)
  async signed(
    @Param('project_slug') slug: string,
    @Param('file_id') id: string,
    @Query() parameters: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const project = await this.projectOf(slug);
    // The signature first: what else the address says is looked at when it is known to be one of ours.
    const claims = this.links.verify(project, id, parameters);
    await this.count(project, response);
    const download = downloadName(parameters.download);
    await this.responder.send(request, response, {
      projectId: project.id,
      disposition: 'attachment',
      cacheControl: ({ bucket }) => cacheControlFor('signed', bucket, this.links.secondsLeft(claims)),
      downloadName: download,
      find: () => this.links.resolve(project, claims),
    });
  }

  @PublicRoute('only files in public buckets')
  @Get('preview')
  @ApiOperation({ summary: 'Show a file of a public bucket', operationId: 'previewFile' })
  @Bytes('*/*')
  @Failures(404, 416)
  async preview(
    @Param('project_slug') slug: string,
    @Param('file_id') id: string,
    @Query() { download }: DownloadQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const project = await this.projectOf(slug);
    const find = (): Promise<FileContent | null> => this.files.findPublicContent(anonContext(project), id);
    const client = request.ip ?? '';
    if (!(await this.limiter.mayMiss(project, client)))
      throw rateLimited((await this.limiter.miss(project, client)).retryAfter);
    const file = await find();
    if (file) await this.count(project, response);
    else await this.limiter.miss(project, client);
    let first: FileContent | null | undefined = file;
    await this.responder.send(request, response, {
      projectId: project.id,
      disposition:
        file && download === undefined
          ? previewDisposition(file.contentType, project.settings.preview_pdf_inline)
          : 'attachment',
      cacheControl: ({ bucket }) => cacheControlFor('preview', bucket),
      downloadName: download,
      find: async () => {
        const found = first === undefined ? await find() : first;
        first = undefined;
        return found;
      },
    });
  }

  private async projectOf(slug: string): Promise<Project> {
    const project = await this.registry.findBySlug(slug);
    if (!project) throw projectNotFound();
    return project;
  }

  /** What is refused, or leads nowhere, does not count. */
  private async count(project: Project, response: Response): Promise<void> {
    const state = await this.limiter.hit(project);
    setRateHeaders(response, state);
    if (!state.allowed) throw rateLimited(state.retryAfter);
  }
}

/** As DownloadQuery has it. @throws AppError 400 */
function downloadName(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length <= MAX_TEXT) return value;
  throw invalidParameters(`download must be one name of at most ${MAX_TEXT} characters`);
}
