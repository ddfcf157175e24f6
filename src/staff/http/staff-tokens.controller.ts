/** Personal access tokens, for the command line and for CI. */
import { Controller, Delete, Get, Ip, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { projectNotFound } from '../../projects/projects.errors';
import type { StaffMember } from '../accounts/staff-member';
import type { StaffCaller } from '../roles/staff';
import { tokenNotFound, tooManyTokens } from '../staff.errors';
import { MAX_TOKENS, StaffTokens } from '../tokens/staff-token.service';
import { CreateTokenDto } from './dto/staff-inputs.dto';
import { CreatedTokenResponse, StaffTokenResponse } from './dto/staff-responses';
import { StaffMemberGuard } from './staff.guard';
import { StaffApi, CurrentStaffMember, CurrentStaff } from './staff-api.decorator';
import { toTokenView } from './staff-views';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

// Nest runs the guards of the lower decorator first.
@StaffApi(StaffMemberGuard)
@Controller('admin/v1/tokens')
export class StaffTokensController {
  constructor(private readonly tokens: StaffTokens) {}

  @Get()
  @Describe(`List your personal access tokens, the newest first
    Tokens themselves are not shown again.`)
  @Answer(200, 'The tokens', [StaffTokenResponse])
  async listStaffTokens(@CurrentStaffMember() member: StaffMember): Promise<StaffTokenResponse[]> {
    return (await this.tokens.list(member)).map(toTokenView);
  }

  @Post()
  @Describe(`Create a personal access token
    It is sent as \`Authorization: Bearer plt_...\`. It never allows more than the current role of the staff member. A token with the scope \`admin\` can create tokens that allow no more and last no longer than itself.`)
  @Answer(201, 'The token; not shown again', CreatedTokenResponse)
  @Errors(invalidParameters('scopes must be an array'), tooManyTokens(MAX_TOKENS), projectNotFound())
  async createStaffToken(
    @CurrentStaff() staff: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
    @StrictBody() body: CreateTokenDto,
    @Ip() address: string,
  ): Promise<CreatedTokenResponse> {
    const { name, scopes, project_id: projectId = null, expires_in: lifetimeSeconds } = body;
    const request = { name, scopes, projectId, lifetimeSeconds };
    const { token, record } = await this.tokens.create(staff, member, request, address);
    return { ...toTokenView(record), token };
  }

  @Delete(':id')
  @Describe(`Delete one of your personal access tokens
    A token can delete itself; deleting other tokens needs the scope \`admin\`.`)
  @Answer(204, 'The token no longer works')
  @Errors(tokenNotFound())
  async deleteStaffToken(
    @CurrentStaff() staff: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
    @Param('id') id: string,
    @Ip() address: string,
  ): Promise<void> {
    await this.tokens.remove(staff, member, id, address);
  }
}
