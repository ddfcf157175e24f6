/** Personal access tokens, for the command line and for CI. */
import { Controller, Delete, Get, Ip, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/http-errors';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { projectNotFound } from '../../projects/projects.errors';
import type { Person } from '../accounts/person';
import type { Staff } from '../roles/staff';
import { tokenNotFound, tooManyTokens } from '../staff.errors';
import { MAX_TOKENS, StaffTokens } from '../tokens/staff-token.service';
import { CurrentPerson, CurrentStaff } from './current-staff.decorator';
import { CreateTokenDto } from './dto/staff-inputs.dto';
import { CreatedTokenDto, TokenRecordDto } from './dto/staff-records.dto';
import { PersonGuard } from './person.guards';
import { StaffApi } from './staff-api.decorator';
import { toTokenView } from './staff-views';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

// Nest runs the guard of the lower decorator first.
@StaffApi(PersonGuard)
@Controller('admin/v1/tokens')
export class StaffTokensController {
  constructor(private readonly tokens: StaffTokens) {}

  @Get()
  @Describe(`List your personal access tokens, the newest first
    Tokens themselves are not shown again.`)
  @Answer(200, 'The tokens', [TokenRecordDto])
  async listStaffTokens(@CurrentPerson() person: Person): Promise<TokenRecordDto[]> {
    return (await this.tokens.list(person)).map(toTokenView);
  }

  @Post()
  @Describe(`Create a personal access token
    It is sent as \`Authorization: Bearer plt_...\`. It never allows more than the current role of the person. A token with the scope \`admin\` can create tokens that allow no more and last no longer than itself.`)
  @Answer(201, 'The token; not shown again', CreatedTokenDto)
  @Errors(invalidParameters('scopes must be an array'), tooManyTokens(MAX_TOKENS), projectNotFound())
  async createStaffToken(
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
  @Describe(`Delete one of your personal access tokens
    A token can delete itself; deleting other tokens needs the scope \`admin\`.`)
  @Answer(204, 'The token no longer works')
  @Errors(tokenNotFound())
  async deleteStaffToken(
    @CurrentStaff() staff: Staff,
    @CurrentPerson() person: Person,
    @Param('id') id: string,
    @Ip() address: string,
  ): Promise<void> {
    await this.tokens.remove(staff, person, id, address);
  }
}
