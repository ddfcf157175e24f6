/** Makes and revokes signed addresses (SPEC.md 4.1, DECISIONS.md 6). */
import { Controller, Delete, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller } from '../../access/caller';
import { callerOf, CurrentCaller } from '../../access/current-caller.decorator';
import { BodyReader } from '../../http/bodies/body-reader';
import { StrictBody, unknownHere } from '../../http/input/strict-input.decorator';
import { isJsonObject } from '../../common/text/json';
import { Expiry, EXPIRY_NAMES } from '../signed-urls/signed-url';
import { BulkSignedUrl, SignedUrlsService } from '../signed-urls/signed-urls.service';
import { invalidParameters } from '../storage.errors';
import { BulkSignedUrlsDto, CreateSignedUrlDto } from './dto/files.dto';
import { BulkSignedUrlDto, SignedUrlDto } from './dto/records';
import { sendData } from './send-envelope';
import { Failures, StorageAccess, StorageJson, Success } from './storage-api.decorator';

@StorageAccess()
@Controller('p/:project_slug/storage/files')
export class SignedUrlsController {
  constructor(
    private readonly links: SignedUrlsService,
    private readonly bodies: BodyReader,
  ) {}

  @StorageJson()
  @Post('bulk-signed-urls')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create temporary download addresses', operationId: 'bulkCreateSignedUrls' })
  @ApiBody({ type: BulkSignedUrlsDto })
  @Success(200, 'For each file an address, or an error', [BulkSignedUrlDto])
  @Failures(404, 413, 415)
  signAll(
    @CurrentCaller() caller: Caller,
    @StrictBody() { file_ids: ids, expiry }: BulkSignedUrlsDto,
  ): Promise<BulkSignedUrl[]> {
    return this.links.createAll(caller, ids, expiry);
  }

  /** As busy as downloads are, and as plain (content.controller.ts). */
  @Post(':file_id/signed-url')
  @ApiOperation({ summary: 'Create a temporary download address', operationId: 'createSignedUrl' })
  @ApiParam({ name: 'file_id', type: String })
  @ApiBody({ type: CreateSignedUrlDto })
  @Success(200, 'The address', SignedUrlDto)
  @Failures(404, 413, 415)
  async sign(@Req() request: Request, @Res() response: Response): Promise<void> {
    const id = String(request.params.file_id);
    const url = await this.bodies.useJson(request, async (body) =>
      this.links.create(callerOf(request), id, expiryOf(body)),
    );
    sendData(response, url);
  }

  @StorageJson()
  @Delete(':file_id/signed-urls')
  @ApiOperation({ summary: 'Revoke all signed addresses of a file', operationId: 'revokeSignedUrls' })
  @Success(200, 'Nothing more', null)
  @Failures(403, 404)
  async revoke(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<null> {
    await this.links.revokeAll(caller, id);
    return null;
  }
}

/** What CreateSignedUrlDto documents. @throws AppError 400 */
function expiryOf(body: unknown): Expiry {
  const { expiry: given, ...others } = isJsonObject(body) ? body : {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidParameters(unknownHere(unknown));
  const expiry = EXPIRY_NAMES.find((name) => name === given);
  if (expiry === undefined)
    throw invalidParameters(`expiry must be one of the following values: ${EXPIRY_NAMES.join(', ')}`);
  return expiry;
}
