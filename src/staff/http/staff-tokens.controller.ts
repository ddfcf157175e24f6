/** Personal access tokens, for the command line and for CI. */
import { Controller, Delete, Get, HttpCode, Ip, Param, Post, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { projectNotFound } from '../../projects/projects.errors';
import type { Person } from '../accounts/person';
import type { Staff } from '../roles/staff';
import { personRequired, tokenNotFound, tooManyTokens } from '../staff.errors';
import { MAX_TOKENS, StaffTokens } from '../tokens/staff-token.service';
import { CurrentPerson, CurrentStaff } from './current-staff.decorator';
import { CreateTokenDto } from './dto/staff-inputs.dto';
import { CreatedTokenDto, TokenRecordDto } from './dto/staff-records.dto';
import { PersonGuard } from './person.guards';
import { StaffApi, STAFF_ERRORS } from './staff-api.decorator';
import { toTokenView } from './staff-views';

// Nest runs the guard of the lower decorator first.
@UseGuards(PersonGuard)
@StaffApi()
@Controller('admin/v1/tokens')
export class StaffTokensController {
  constructor(private readonly tokens: StaffTokens) {}

  @Get()
  @ApiOperation({
    operationId: 'listStaffTokens',
    summary: 'List your personal access tokens, the newest first',
    description: 'Tokens themselves are not shown again.',
  })
  @Answer(200, 'The tokens', [TokenRecordDto])
  @PlatformErrors(personRequired(), STAFF_ERRORS)
  async list(@CurrentPerson() person: Person): Promise<TokenRecordDto[]> {
    return (await this.tokens.list(person)).map(toTokenView);
  }

  @Post()
  @HttpCode(201)
  @ApiOperation({
    operationId: 'createStaffToken',
    summary: 'Create a personal access token',
    description:
      'It is sent as `Authorization: Bearer plt_...`. It never allows more than the current role of the person. A token with the scope `admin` can create tokens that allow no more and last no longer than itself.',
  })
  @JsonBody(CreateTokenDto)
  @Answer(201, 'The token; not shown again', CreatedTokenDto)
  @PlatformErrors(
    invalidParameters('scopes must be an array'),
    tooManyTokens(MAX_TOKENS),
    personRequired(),
    projectNotFound(),
    JSON_BODY_ERRORS,
    STAFF_ERRORS,
  )
  async create(
    @CurrentStaff() staff: Staff,
    @CurrentPerson() person: Person,
    @StrictBody() body: CreateTokenDto,
    @Ip() address: string,
  ): Promise<CreatedTokenDto> {
    const { name, scopes, project_id: projectId = null, expires_in: lifetimeSeconds } = body;
    const request = { name, scopes, projectId, lifetimeSeconds };
    const { token, record } = await this.tokens.create(staff, person, request, address);
    return { ...toTokenView(record), token };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteStaffToken',
    summary: 'Delete one of your personal access tokens',
    description: 'A token can delete itself; deleting other tokens needs the scope `admin`.',
  })
  @ApiParam({ name: 'id', type: String, description: 'The id of the token', example: UUID_EXAMPLE })
  @ApiResponse({ status: 204, description: 'The token no longer works' })
  @PlatformErrors(personRequired(), tokenNotFound(), STAFF_ERRORS)
  async remove(
    @CurrentStaff() staff: Staff,
    @CurrentPerson() person: Person,
    @Param('id') id: string,
    @Ip() address: string,
  ): Promise<void> {
    await this.tokens.remove(staff, person, id, address);
  }
}
