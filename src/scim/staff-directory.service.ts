/** Staff that a directory provisions. It does not prove addresses; its groups give roles as in single sign-on. */
import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../common/text/json';
import { Clock } from '../common/time/clock';
import { refusingDuplicate } from '../database/sql/sqlstate';
import { getEmailAddress, localPart } from '../identity/email-address';
import type { RequestOrigin } from '../identity/request-origin';
import type { AuditEntry } from '../install/audit/audit-log.repository';
import { auditEntry, type StaffMemberRecord } from '../staff/accounts/staff-member';
import { StaffMemberRepository } from '../staff/accounts/staff-member.repository';
import type { GroupOutcome, ScimDirectory } from './scim-directory';
import type { GroupTables } from './scim-group.repository';
import type { ScimChange, ScimPage, ScimPerson } from './scim-people';
import { scimPersonExists } from './scim.errors';
import { StaffGroupRepository } from './staff-group.repository';

@Injectable()
export class StaffDirectory implements ScimDirectory {
  constructor(
    private readonly members: StaffMemberRepository,
    private readonly staffGroups: StaffGroupRepository,
    private readonly clock: Clock,
  ) {}

  get groups(): GroupTables {
    return this.staffGroups.tables;
  }

  changeGroup<T>(work: (tables: GroupTables) => Promise<GroupOutcome<T>>, { ip }: RequestOrigin): Promise<T> {
    return this.staffGroups.change(work, { name: 'scim', address: ip });
  }

  async find(id: string): Promise<ScimPerson | null> {
    const member = await this.members.find(id);
    return member && toPerson(member);
  }

  async findByEmail(emailKey: string): Promise<ScimPerson | null> {
    const member = await this.members.findByEmail(emailKey);
    return member && toPerson(member);
  }

  async list({ offset, limit }: ScimPage): Promise<{ total: number; people: ScimPerson[] }> {
    const all = await this.members.list();
    return { total: all.length, people: all.slice(offset, offset + limit).map(toPerson) };
  }

  async create(
    { email, name, isActive }: ScimChange & { email: string },
    origin: RequestOrigin,
  ): Promise<ScimPerson> {
    const address = getEmailAddress(email);
    const account = {
      email: address.address,
      emailKey: address.key,
      name: name ?? localPart(address),
      role: null,
      passwordHash: null,
      emailVerifiedAt: null,
    };
    const entry = entryOf('person.scim_create', origin, { email: address.address });
    const member = await refusingDuplicate(this.members.create(account, entry), scimPersonExists);
    return isActive === false ? this.updatePerson(member.id, { isActive }, origin) : toPerson(member);
  }

  async updatePerson(id: string, change: ScimChange, origin: RequestOrigin): Promise<ScimPerson> {
    const { email, name, isActive } = change;
    const applied = {
      ...(email === undefined ? {} : { email }),
      ...(name === undefined ? {} : { name }),
      ...(isActive === undefined ? {} : { disabled: !isActive }),
    };
    const entry = entryOf('person.update', origin, { person_id: id, ...applied });
    const now = this.clock.date();
    const changed = this.members.updateMember(id, () => {}, applied, now, entry);
    return toPerson(await refusingDuplicate(changed, scimPersonExists));
  }

  remove(id: string, origin: RequestOrigin): Promise<void> {
    return this.members.remove(id, () => {}, entryOf('person.delete', origin, { person_id: id }));
  }
}

const entryOf = (action: string, { ip }: RequestOrigin, details: JsonObject): AuditEntry =>
  auditEntry(action, { name: 'scim', address: ip }, details);

const toPerson = ({ id, email, name, disabledAt, createdAt }: StaffMemberRecord): ScimPerson => ({
  id,
  email,
  name,
  isActive: disabledAt === null,
  createdAt,
});
