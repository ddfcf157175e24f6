/** Staff who administer the installation, and their roles in projects. */
import { Controller, Delete, Get, Param, Patch, Put } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { StaffMemberService } from '../accounts/staff-member.service';
import { rolesIn } from '../roles/decide';
import { INVITERS } from '../roles/route-table';
import type { StaffCaller } from '../roles/staff';
import { lastOwner, passwordsKept, staffMemberNotFound } from '../staff.errors';
import { ProjectRoleDto, RotatePasswordQuery, UpdateStaffMemberDto } from './dto/staff-inputs.dto';
import { MembershipResponse, StaffMemberResponse, ProjectMemberResponse } from './dto/staff-responses';
import { StaffApi, CurrentActor, CurrentStaff } from './staff-api.decorator';
import { toColleagueView, toMemberView, toStaffMemberResponse } from './staff-views';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';

@StaffApi()
@PathErrors({ 'people/:': staffMemberNotFound() })
@Controller('admin/v1')
export class StaffMembersController {
  constructor(private readonly members: StaffMemberService) {}

  @Get('people')
  @Describe(`List the staff with an account, sorted by address
    Needs a role of the installation.`)
  @Answer(200, 'The staff', [StaffMemberResponse])
  async listPeople(): Promise<StaffMemberResponse[]> {
    return (await this.members.list()).map(toStaffMemberResponse);
  }

  @Patch('people/:id')
  @Describe(`Change name or role of a staff member, or disable the account
    Needs the role operator; to change an owner, or to make someone an owner, the role owner. Disabling ends all sessions and tokens at once. A change of the role revokes the invitations that the staff member made.`)
  @Answer(200, 'The updated staff member', StaffMemberResponse)
  @Errors(invalidParameters('role must be one of the following values: owner, operator, auditor'))
  @Errors(lastOwner(), passwordsKept(['acme']))
  async updatePerson(
    @CurrentStaff() staff: StaffCaller,
    @Param('id') id: string,
    @StrictBody() { rotate_database_password: rotate = false, ...body }: UpdateStaffMemberDto,
    @CurrentActor() actor: Actor,
  ): Promise<StaffMemberResponse> {
    // Members that the body leaves out must not be part of the change.
    return toStaffMemberResponse(await this.members.updateMember(staff, id, { ...body }, rotate, actor));
  }

  @Delete('people/:id')
  @Describe(`Delete a staff member's account
    Needs the role operator; to delete an owner, the role owner. Entries of the audit log keep the address.`)
  @Answer(204, 'The account was deleted, with its sessions and tokens')
  @Errors(invalidParameters('rotate_database_password must be a boolean string'))
  @Errors(lastOwner(), passwordsKept(['acme']))
  async deletePerson(
    @CurrentStaff() staff: StaffCaller,
    @Param('id') id: string,
    @StrictQuery() query: RotatePasswordQuery,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.members.remove(staff, id, isRotating(query), actor);
  }

  @Get('people/:id/projects')
  @Describe(`List the projects that a staff member has a role in
    Needs a role of the installation. Roles of the installation count in every project.`)
  @Answer(200, 'The projects, by slug', [MembershipResponse])
  listProjectsOfPerson(@Param('id') id: string): Promise<MembershipResponse[]> {
    return this.members.projectsOf(id);
  }

  @Get('projects/:id/people')
  @Describe(`List the staff with a role in a project, by address
    Needs a role in the project. Staff with a role of the installation alone are not listed. Developers and viewers see neither roles of the installation, nor factors, nor the last sign-in.`)
  @Answer(200, 'The staff with their roles', [ProjectMemberResponse])
  async listPeopleOfProject(
    @CurrentStaff() staff: StaffCaller,
    @Param('id') id: string,
  ): Promise<ProjectMemberResponse[]> {
    const members = (await this.members.membersOf(id)).map(toMemberView);
    return rolesIn(staff, id).some((role) => INVITERS.includes(role))
      ? members
      : members.map(toColleagueView);
  }

  @Put('projects/:id/people/:person_id')
  @Describe(`Give a staff member a role in a project, or change it
    Needs an administrator of the project. Takes effect with the next request.`)
  @Answer(200, 'The staff member with the role', ProjectMemberResponse)
  @Errors(invalidParameters('role must be one of the following values: admin, developer, viewer'))
  async setPersonOfProject(
    @Param('id') projectId: string,
    @Param('person_id') who: string,
    @StrictBody() { role, rotate_database_password: rotate = false }: ProjectRoleDto,
    @CurrentActor() actor: Actor,
  ): Promise<ProjectMemberResponse> {
    return toMemberView(await this.members.giveProjectRole(projectId, who, role, rotate, actor));
  }

  @Delete('projects/:id/people/:person_id')
  @Describe(`Remove a staff member from a project
    Needs an administrator of the project. Takes effect with the next request. A developer may know the keys and the password of the database: the query parameter changes the latter, POST /admin/v1/projects/{id}/keys/rotate both.`)
  @Answer(204, 'The staff member has no role in the project')
  @Errors(invalidParameters('rotate_database_password must be a boolean string'))
  async removePersonOfProject(
    @Param('id') projectId: string,
    @Param('person_id') who: string,
    @StrictQuery() query: RotatePasswordQuery,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.members.takeProjectRole(projectId, who, isRotating(query), actor);
  }
}

const isRotating = ({ rotate_database_password: rotate }: RotatePasswordQuery): boolean =>
  rotate === 'true' || rotate === '1';
