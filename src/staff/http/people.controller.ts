/** People who administer the installation, and their roles in projects. */
import { Controller, Delete, Get, Param, Patch, Put } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/http-errors';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { PeopleService } from '../accounts/people.service';
import { rolesIn } from '../roles/decide';
import { INVITERS } from '../roles/route-table';
import type { Staff } from '../roles/staff';
import { lastOwner, personNotFound } from '../staff.errors';
import { CurrentActor, CurrentStaff } from './current-staff.decorator';
import { ProjectRoleDto, RemoveMemberQuery, UpdatePersonDto } from './dto/staff-inputs.dto';
import { MembershipDto, PersonDto, ProjectPersonDto } from './dto/staff-records.dto';
import { StaffApi } from './staff-api.decorator';
import { toColleagueView, toMemberView, toPersonView } from './staff-views';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@StaffApi()
@Controller('admin/v1')
export class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Get('people')
  @Describe(`List the people with an account, sorted by address
    Needs a role of the installation.`)
  @Answer(200, 'The people', [PersonDto])
  async listPeople(): Promise<PersonDto[]> {
    return (await this.people.list()).map(toPersonView);
  }

  @Patch('people/:id')
  @Describe(`Change name or role of a person, or disable the account
    Needs the role operator; to change an owner, or to make someone an owner, the role owner. Disabling ends all sessions and tokens at once. A change of the role revokes the invitations that the person made.`)
  @Answer(200, 'The updated person', PersonDto)
  @Errors(invalidParameters('role must be one of the following values: owner, operator, auditor'))
  @Errors(personNotFound(), lastOwner())
  async updatePerson(
    @CurrentStaff() staff: Staff,
    @Param('id') id: string,
    @StrictBody() body: UpdatePersonDto,
    @CurrentActor() actor: Actor,
  ): Promise<PersonDto> {
    // Members that the body leaves out are no members of the change.
    return toPersonView(await this.people.update(staff, id, { ...body }, actor));
  }

  @Delete('people/:id')
  @Describe(`Delete a person's account
    Needs the role operator; to delete an owner, the role owner. Entries of the audit log keep the address.`)
  @Answer(204, 'The account was deleted, with its sessions and tokens')
  @Errors(personNotFound(), lastOwner())
  async deletePerson(
    @CurrentStaff() staff: Staff,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.people.remove(staff, id, actor);
  }

  @Get('people/:id/projects')
  @Describe(`List the projects that a person has a role in
    Needs a role of the installation. Roles of the installation count in every project.`)
  @Answer(200, 'The projects, by slug', [MembershipDto])
  @Errors(personNotFound())
  listProjectsOfPerson(@Param('id') id: string): Promise<MembershipDto[]> {
    return this.people.projectsOf(id);
  }

  @Get('projects/:id/people')
  @Describe(`List the people with a role in a project, by address
    Needs a role in the project. People with a role of the installation alone are not listed. Developers and viewers see neither roles of the installation, nor factors, nor the last sign-in.`)
  @Answer(200, 'The people with their roles', [ProjectPersonDto])
  async listPeopleOfProject(
    @CurrentStaff() staff: Staff,
    @Param('id') id: string,
  ): Promise<ProjectPersonDto[]> {
    const members = (await this.people.membersOf(id)).map(toMemberView);
    return rolesIn(staff, id).some((role) => INVITERS.includes(role))
      ? members
      : members.map(toColleagueView);
  }

  @Put('projects/:id/people/:person_id')
  @Describe(`Give a person a role in a project, or change it
    Needs an administrator of the project. Takes effect with the next request.`)
  @Answer(200, 'The person with the role', ProjectPersonDto)
  @Errors(invalidParameters('role must be one of the following values: admin, developer, viewer'))
  @Errors(personNotFound())
  async setPersonOfProject(
    @Param('id') projectId: string,
    @Param('person_id') who: string,
    @StrictBody() { role }: ProjectRoleDto,
    @CurrentActor() actor: Actor,
  ): Promise<ProjectPersonDto> {
    return toMemberView(await this.people.giveProjectRole(projectId, who, role, actor));
  }

  @Delete('projects/:id/people/:person_id')
  @Describe(`Remove a person from a project
    Needs an administrator of the project. Takes effect with the next request. A developer may know the keys and the password of the database: the query parameter changes the latter, POST /admin/v1/projects/{id}/keys/rotate both.`)
  @Answer(204, 'The person has no role in the project')
  @Errors(invalidParameters('rotate_database_password must be a boolean string'), personNotFound())
  async removePersonOfProject(
    @Param('id') projectId: string,
    @Param('person_id') who: string,
    @StrictQuery() { rotate_database_password: rotate }: RemoveMemberQuery,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.people.takeProjectRole(projectId, who, rotate === 'true' || rotate === '1', actor);
  }
}
