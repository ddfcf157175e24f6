/** Whom a directory provisions: staff, or users of a project. */
import type { RequestOrigin } from '../identity/request-origin';
import type { ScimChange, ScimPerson } from './scim-people';

export interface ScimPage {
  readonly offset: number;
  readonly limit: number;
}

/** Changes write their own audit entries; a taken address is AppError 409. Absent members of a change keep their values. */
export interface ScimDirectory {
  find(id: string): Promise<ScimPerson | null>;
  findByEmail(emailKey: string): Promise<ScimPerson | null>;
  list(page: ScimPage): Promise<{ readonly total: number; readonly people: readonly ScimPerson[] }>;
  create(person: ScimChange & { readonly email: string }, origin: RequestOrigin): Promise<ScimPerson>;
  /** @throws AppError 404, 409 */
  update(id: string, change: ScimChange, origin: RequestOrigin): Promise<ScimPerson>;
  /** @throws AppError 404, 409 */
  remove(id: string, origin: RequestOrigin): Promise<void>;
}
