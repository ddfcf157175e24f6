/** Creates and revokes signed URLs. */
import { Controller, Delete, Param, Post, Req, UseInterceptors } from '@nestjs/common';
import type { Request } from 'express';
import { Caller } from '../../access/caller';
import { callerOf, CurrentCaller } from '../../access/current-caller.decorator';
import { BodyReader } from '../../http/bodies/body-reader';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { BulkSignedUrl, SignedUrl, SignedUrlsService } from '../signed-urls/signed-urls.service';
import { BulkSignedUrlsDto, CreateSignedUrlDto } from './dto/files.dto';
import { BulkSignedUrlResponse, SignedUrlResponse } from './dto/storage-responses';
import { validBody } from './dto/validated';
import { StorageAccess, Success } from './storage-api.decorator';
import { invalidParameters, forbidden, fileNotFound } from '../storage.errors';
import { Describe, Errors, JsonBody, PathErrors } from '../../http/docs/operation.decorators';

@StorageAccess()
@PathErrors({ ':file_id': fileNotFound() })
@Controller('p/:project_slug/storage/files')
export class SignedUrlsController {
  constructor(
    private readonly links: SignedUrlsService,
    private readonly bodies: BodyReader,
  ) {}

  @UseInterceptors(JsonBodyInterceptor)
  @Post('bulk-signed-urls')
  @Describe(`Create temporary download URLs
    Needs apikey and bearer; the project's policies apply. At most 1000 files. A file that the caller may not read gets an error instead of a URL.`)
  @Success(200, 'A URL or an error for each file, in the order of the request', [BulkSignedUrlResponse])
  @Errors(invalidParameters('file_ids must be an array'))
  bulkCreateSignedUrls(
    @CurrentCaller() caller: Caller,
    @StrictBody() { file_ids: ids, expiry }: BulkSignedUrlsDto,
  ): Promise<BulkSignedUrl[]> {
    return this.links.createAll(caller, ids, expiry);
  }

  /** Used as often as downloads, so it reads the body without Nest's pipes. */
  @Post(':file_id/signed-url')
  @Describe(`Create a temporary download URL
    Needs apikey and bearer; the project's policies apply. The URL is the only credential that a download needs until it expires.`)
  @JsonBody(CreateSignedUrlDto)
  @Success(200, 'The URL', SignedUrlResponse)
  @Errors(invalidParameters('expiry must be one of the following values: 5m, 15m, 1h, 24h, 7d'))
  createSignedUrl(@Req() request: Request): Promise<SignedUrl> {
    const id = String(request.params.file_id);
    return this.bodies.useJson(request, async (body) =>
      this.links.create(callerOf(request), id, validBody(CreateSignedUrlDto, body).expiry),
    );
  }

  @UseInterceptors(JsonBodyInterceptor)
  @Delete(':file_id/signed-urls')
  @Describe(`Revoke all signed URLs of a file
    Needs apikey and bearer; the project's policies apply. URLs created afterwards work.`)
  @Success(200, 'Revoked', null)
  @Errors(forbidden())
  async revokeSignedUrls(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<null> {
    await this.links.revokeAll(caller, id);
    return null;
  }
}
