/** People who administer the installation, and their roles in projects. */
import { Controller, Delete, Get, HttpCode, Param, Patch, Put } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor } from '../../projects/audit-log.repository';
import { projectNotFound } from '../../projects/projects.errors';
import { PeopleService } from '../accounts/people.service';
import { rolesIn } from '../roles/decide';
import { INVITERS } from '../roles/route-table';
import type { Staff } from '../roles/staff';
import { lastOwner, personNotFound } from '../staff.errors';
import { CurrentActor, CurrentStaff } from './current-staff.decorator';
import { ProjectRoleDto, RemoveMemberQuery, UpdatePersonDto } from './dto/staff-inputs.dto';
import { MembershipDto, PersonDto, ProjectPersonDto } from './dto/staff-records.dto';
import { ProjectIdParam, StaffApi, STAFF_ERRORS } from './staff-api.decorator';
import { toColleagueView, toMemberView, toPersonView } from './staff-views';

const PersonParam = (name: string, description: string): MethodDecorator =>
  ApiParam({ name, type: String, description, example: UUID_EXAMPLE });

@StaffApi()
@Controller('admin/v1')
export class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Get('people')
  @ApiOperation({
    operationId: 'listPeople',
    summary: 'List the people with an account, sorted by address',
    description: 'Needs a role of the installation.',
  })
  @Answer(200, 'The people', [PersonDto])
  @PlatformErrors(STAFF_ERRORS)
  async list(): Promise<PersonDto[]> {
    return (await this.people.list()).map(toPersonView);
  }

  @Patch('people/:id')
  @ApiOperation({
    operationId: 'updatePerson',
    summary: 'Change name or role of a person, or disable the account',
    description:
      'Needs the role operator; to change an owner, or to make someone an owner, the role owner. Disabling ends all sessions and tokens at once. A change of the role revokes the invitations that the person made.',
  })
  @PersonParam('id', 'The id of the person')
  @JsonBody(UpdatePersonDto)
  @Answer(200, 'The updated person', PersonDto)
  @PlatformErrors(
    invalidParameters('role must be one of the following values: owner, operator, auditor'),
    personNotFound(),
    lastOwner(),
    JSON_BODY_ERRORS,
    STAFF_ERRORS,
  )
  async update(
    @CurrentStaff() staff: Staff,
    @Param('id') id: string,
    @StrictBody() body: UpdatePersonDto,
    @CurrentActor() actor: Actor,
  ): Promise<PersonDto> {
    // Members that the body leaves out are no members of the change.
    return toPersonView(await this.people.update(staff, id, { ...body }, actor));
  }

  @Delete('people/:id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deletePerson',
    summary: "Delete a person's account",
    description:
      'Needs the role operator; to delete an owner, the role owner. Entries of the audit log keep the address.',
  })
  @PersonParam('id', 'The id of the person')
  @ApiResponse({ status: 204, description: 'The account was deleted, with its sessions and tokens' })
  @PlatformErrors(personNotFound(), lastOwner(), STAFF_ERRORS)
  async remove(
    @CurrentStaff() staff: Staff,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.people.remove(staff, id, actor);
  }

  @Get('people/:id/projects')
  @ApiOperation({
    operationId: 'listProjectsOfPerson',
    summary: 'List the projects that a person has a role in',
    description: 'Needs a role of the installation. Roles of the installation count in every project.',
  })
  @PersonParam('id', 'The id of the person')
  @Answer(200, 'The projects, by slug', [MembershipDto])
  @PlatformErrors(personNotFound(), STAFF_ERRORS)
  projectsOf(@Param('id') id: string): Promise<MembershipDto[]> {
    return this.people.projectsOf(id);
  }

  @Get('projects/:id/people')
  @ApiOperation({
    operationId: 'listPeopleOfProject',
    summary: 'List the people with a role in a project, by address',
    description:
      'Needs a role in the project. People with a role of the installation alone are not listed. Developers and viewers see neither roles of the installation, nor factors, nor the last sign-in.',
  })
  @ProjectIdParam()
  @Answer(200, 'The people with their roles', [ProjectPersonDto])
  @PlatformErrors(projectNotFound(), STAFF_ERRORS)
  async membersOf(@CurrentStaff() staff: Staff, @Param('id') id: string): Promise<ProjectPersonDto[]> {
    const members = (await this.people.membersOf(id)).map(toMemberView);
    return rolesIn(staff, id).some((role) => INVITERS.includes(role))
      ? members
      : members.map(toColleagueView);
  }

  @Put('projects/:id/people/:person_id')
  @ApiOperation({
    operationId: 'setPersonOfProject',
    summary: 'Give a person a role in a project, or change it',
    description: 'Needs an administrator of the project. Takes effect with the next request.',
  })
  @ProjectIdParam()
  @PersonParam('person_id', 'The id of the person, or their email')
  @JsonBody(ProjectRoleDto)
  @Answer(200, 'The person with the role', ProjectPersonDto)
  @PlatformErrors(
    invalidParameters('role must be one of the following values: admin, developer, viewer'),
    projectNotFound(),
    personNotFound(),
    JSON_BODY_ERRORS,
    STAFF_ERRORS,
  )
  async give(
    @Param('id') projectId: string,
    @Param('person_id') who: string,
    @StrictBody() { role }: ProjectRoleDto,
    @CurrentActor() actor: Actor,
  ): Promise<ProjectPersonDto> {
    return toMemberView(await this.people.giveProjectRole(projectId, who, role, actor));
  }

  @Delete('projects/:id/people/:person_id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removePersonOfProject',
    summary: 'Remove a person from a project',
    description:
      'Needs an administrator of the project. Takes effect with the next request. A developer may know the keys and the password of the database: the query parameter changes the latter, POST /admin/v1/projects/{id}/keys/rotate both.',
  })
  @ProjectIdParam()
  @PersonParam('person_id', 'The id of the person, or their email')
  @ApiQuery({ type: RemoveMemberQuery })
  @ApiResponse({ status: 204, description: 'The person has no role in the project' })
  @PlatformErrors(
    invalidParameters('rotate_database_password must be a boolean string'),
    projectNotFound(),
    personNotFound(),
    STAFF_ERRORS,
  )
  async take(
    @Param('id') projectId: string,
    @Param('person_id') who: string,
    @StrictQuery() { rotate_database_password: rotate }: RemoveMemberQuery,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.people.takeProjectRole(projectId, who, rotate === 'true' || rotate === '1', actor);
  }
}
