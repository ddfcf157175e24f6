/** Groups of staff in the platform database, and the roles that follow from them. */
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Actor, AuditLogRepository } from '../install/audit/audit-log.repository';
import { auditEntry } from '../staff/accounts/staff-member';
import { StaffMemberRepository } from '../staff/accounts/staff-member.repository';
import { RoleGrants } from '../staff/single-sign-on/role-grants.service';
import type { GroupOutcome } from './scim-directory';
import type { GroupTables } from './scim-group.repository';

@Injectable()
export class StaffGroupRepository {
  readonly tables: GroupTables;

  constructor(
    dataSource: DataSource,
    private readonly members: StaffMemberRepository,
    private readonly grants: RoleGrants,
    private readonly audit: AuditLogRepository,
  ) {
    this.tables = tablesOver(dataSource);
  }

  /** Runs under the lock of owners, so that one owner always remains. @throws AppError 409 for the last owner */
  change<T>(work: (tables: GroupTables) => Promise<GroupOutcome<T>>, actor: Actor): Promise<T> {
    return this.members.whileOwnersStay(async (manager) => {
      const { result, action, group, gained, lost } = await work(tablesOver(manager));
      const details = { group, gained: gained.length, lost: lost.length };
      await this.audit.write(auditEntry(`group.scim_${action}`, actor, details), manager);
      await this.grants.provision([...gained, ...lost], actor, manager);
      return result;
    });
  }
}

const tablesOver = (database: Pick<EntityManager, 'query'>): GroupTables => ({
  schema: '',
  people: 'staff_people',
  query: (text, values) => database.query(text, [...values]),
});
