/** Operations of directories on people (SCIM 2.0). A directory can enable only accounts that it has disabled itself. */
import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../common/text/json';
import { isStorableText } from '../common/text/storable';
import { UUID } from '../common/text/uuid';
import { parseEmailAddress } from '../identity/email-address';
import type { RequestOrigin } from '../identity/request-origin';
import type { ScimDirectory } from './scim-directory';
import {
  type ScimChange,
  type ScimFilter,
  type ScimLink,
  type ScimPage,
  type ScimPerson,
  toScimList,
  toScimUser,
} from './scim-people';
import { ScimGroupRepository } from './scim-group.repository';
import { scimPersonNotFound } from './scim.errors';
import { ScimRepository, type ScimScope } from './scim.repository';

/** The sender of a request: a directory with a token. */
export interface ScimCaller {
  readonly scope: ScimScope;
  readonly directory: ScimDirectory;
  /** Address of the directory. */
  readonly base: string;
  readonly origin: RequestOrigin;
}

@Injectable()
export class Scim {
  constructor(
    private readonly links: ScimRepository,
    private readonly groups: ScimGroupRepository,
  ) {}

  /** @throws AppError 404 for an unknown person */
  async get(caller: ScimCaller, id: string): Promise<JsonObject> {
    const { person, link } = await this.find(caller, id);
    return this.show(caller, person, link);
  }

  async list(caller: ScimCaller, filter: ScimFilter | null, page: ScimPage): Promise<JsonObject> {
    const { total, people } =
      filter === null ? await caller.directory.list(page) : await this.search(caller, filter);
    const ids = people.map(({ id }) => id);
    const linkOf = await this.links.links(caller.scope, ids);
    const groups = await this.groups.memberships(caller.directory.groups, ids);
    const shown = people.map((person) =>
      toScimUser(person, linkOf(person.id), groups.get(person.id) ?? [], caller.base),
    );
    return toScimList(shown, total, page.offset + 1);
  }

  /** @throws AppError 400 for an invalid body, 409 for a taken address */
  async create(caller: ScimCaller, change: ScimChange & { readonly email: string }): Promise<JsonObject> {
    const person = await caller.directory.create(change, caller.origin);
    const link = { externalId: change.externalId ?? null, isDeactivated: change.isActive === false };
    await this.links.setLink(caller.scope, person.id, link);
    return toScimUser(person, link, [], caller.base);
  }

  /** @throws AppError 400 for an invalid body, 404 for an unknown person, 409 for a taken address or the last owner */
  async updateUser(caller: ScimCaller, id: string, change: ScimChange): Promise<JsonObject> {
    const { person, link } = await this.find(caller, id);
    const { isActive, externalId, ...rest } = change;
    const isChanged =
      isActive !== undefined && isActive !== person.isActive && (!isActive || link.isDeactivated);
    const applied = {
      ...(rest.email === undefined || rest.email === person.email ? {} : { email: rest.email }),
      ...(rest.name === undefined || rest.name === person.name ? {} : { name: rest.name }),
      ...(isChanged ? { isActive } : {}),
    };
    const next = {
      externalId: externalId === undefined ? link.externalId : externalId,
      // Not deactivated by the directory if an administrator has enabled the account again.
      isDeactivated: isChanged ? !isActive : link.isDeactivated && !person.isActive,
    };
    // Stored before the account changes: if the process crashes, a directory that repeats the request can still undo the change.
    await this.links.setLink(caller.scope, person.id, next);
    const changed =
      Object.keys(applied).length === 0
        ? person
        : await caller.directory
            .updatePerson(person.id, applied, caller.origin)
            .catch(async (error: unknown) => {
              await this.links.setLink(caller.scope, person.id, link);
              throw error;
            });
    return this.show(caller, changed, next);
  }

  /** @throws AppError 404 for an unknown person, 409 for the last owner */
  async remove(caller: ScimCaller, id: string): Promise<void> {
    const { person } = await this.find(caller, id);
    await caller.directory.remove(person.id, caller.origin);
    await this.links.removeLink(caller.scope, person.id);
  }

  private async show(
    { directory, base }: ScimCaller,
    person: ScimPerson,
    link: ScimLink,
  ): Promise<JsonObject> {
    const groups = await this.groups.memberships(directory.groups, [person.id]);
    return toScimUser(person, link, groups.get(person.id) ?? [], base);
  }

  private async find(
    { scope, directory }: ScimCaller,
    id: string,
  ): Promise<{ person: ScimPerson; link: ScimLink }> {
    const person = UUID.test(id) ? await directory.find(id.toLowerCase()) : null;
    if (!person) throw scimPersonNotFound();
    const linkOf = await this.links.links(scope, [person.id]);
    return { person, link: linkOf(person.id) };
  }

  private async search(
    { scope, directory }: ScimCaller,
    { attribute, value }: ScimFilter,
  ): Promise<{ total: number; people: readonly ScimPerson[] }> {
    const person = await this.personWith(scope, directory, attribute, value);
    return person ? { total: 1, people: [person] } : { total: 0, people: [] };
  }

  private async personWith(
    scope: ScimScope,
    directory: ScimDirectory,
    attribute: ScimFilter['attribute'],
    value: string,
  ): Promise<ScimPerson | null> {
    if (attribute === 'username') {
      const email = parseEmailAddress(value);
      return email && directory.findByEmail(email.key);
    }
    const isText = attribute === 'externalid' && isStorableText(value);
    const id = isText ? await this.links.findPersonId(scope, value) : value;
    return id !== null && UUID.test(id) ? directory.find(id.toLowerCase()) : null;
  }
}
