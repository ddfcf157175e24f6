/** Creates and revokes signed URLs (SPEC.md 4.1, DECISIONS.md 6). */
import { Controller, Delete, HttpCode, Param, Post, Req, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { Caller } from '../../access/caller';
import { callerOf, CurrentCaller } from '../../access/current-caller.decorator';
import { BodyReader } from '../../http/bodies/body-reader';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { BulkSignedUrl, SignedUrl, SignedUrlsService } from '../signed-urls/signed-urls.service';
import { BulkSignedUrlsDto, CreateSignedUrlDto } from './dto/files.dto';
import { BulkSignedUrlDto, SignedUrlDto } from './dto/records';
import { validBody } from './dto/validated';
import { Failures, StorageAccess, Success } from './storage-api.decorator';

@StorageAccess()
@Controller('p/:project_slug/storage/files')
export class SignedUrlsController {
  constructor(
    private readonly links: SignedUrlsService,
    private readonly bodies: BodyReader,
  ) {}

  @UseInterceptors(JsonBodyInterceptor)
  @Post('bulk-signed-urls')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create temporary download URLs', operationId: 'bulkCreateSignedUrls' })
  @ApiBody({ type: BulkSignedUrlsDto })
  @Success(200, 'A URL or an error for each file', [BulkSignedUrlDto])
  @Failures(404, 413, 415)
  signAll(
    @CurrentCaller() caller: Caller,
    @StrictBody() { file_ids: ids, expiry }: BulkSignedUrlsDto,
  ): Promise<BulkSignedUrl[]> {
    return this.links.createAll(caller, ids, expiry);
  }

  /** As busy as downloads: reads the body without Nest's pipes. */
  @Post(':file_id/signed-url')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a temporary download URL', operationId: 'createSignedUrl' })
  @ApiParam({ name: 'file_id', type: String })
  @ApiBody({ type: CreateSignedUrlDto })
  @Success(200, 'The URL', SignedUrlDto)
  @Failures(404, 413, 415)
  sign(@Req() request: Request): Promise<SignedUrl> {
    const id = String(request.params.file_id);
    return this.bodies.useJson(request, async (body) =>
      this.links.create(callerOf(request), id, validBody(CreateSignedUrlDto, body).expiry),
    );
  }

  @UseInterceptors(JsonBodyInterceptor)
  @Delete(':file_id/signed-urls')
  @ApiOperation({ summary: 'Revoke all signed URLs of a file', operationId: 'revokeSignedUrls' })
  @Success(200, 'Revoked', null)
  @Failures(403, 404)
  async revoke(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<null> {
    await this.links.revokeAll(caller, id);
    return null;
  }
}
