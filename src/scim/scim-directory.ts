/** The people that a directory provisions: staff, or users of a project. */
import type { RequestOrigin } from '../identity/request-origin';
import type { GroupTables } from './scim-group.repository';
import type { ScimChange, ScimPage, ScimPerson } from './scim-people';

/** A change of a group, and the people whose groups changed in membership or name. */
export interface GroupOutcome<T> {
  readonly result: T;
  readonly action: 'create' | 'update' | 'delete';
  readonly group: string;
  readonly gained: readonly string[];
  /** People whose sessions and tokens may still name the group. */
  readonly lost: readonly string[];
}

/**
 * Changes write their own audit entries; a taken address gives AppError 409. Absent members of a change leave
 * the values unchanged.
 */
export interface ScimDirectory {
  /** Tables for reads, each of which is a separate statement. */
  readonly groups: GroupTables;
  find(id: string): Promise<ScimPerson | null>;
  findByEmail(emailKey: string): Promise<ScimPerson | null>;
  list(page: ScimPage): Promise<{ readonly total: number; readonly people: readonly ScimPerson[] }>;
  create(person: ScimChange & { readonly email: string }, origin: RequestOrigin): Promise<ScimPerson>;
  /** @throws AppError 404 for an unknown person, 409 for an address that another account has and for the last owner */
  updatePerson(id: string, change: ScimChange, origin: RequestOrigin): Promise<ScimPerson>;
  /** @throws AppError 404 for an unknown person, 409 for the last owner */
  remove(id: string, origin: RequestOrigin): Promise<void>;
  /**
   * Runs a change of a group in a transaction that no other change overlaps, and applies its consequences to
   * the people.
   * @throws AppError 409 for the last owner
   */
  changeGroup<T>(work: (tables: GroupTables) => Promise<GroupOutcome<T>>, origin: RequestOrigin): Promise<T>;
}
