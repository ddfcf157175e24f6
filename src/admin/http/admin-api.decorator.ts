/** What the controllers of the admin API have in common: the guard, OpenAPI tags, parsing of JSON bodies, and errors. */
import type { ErrorList } from '../../http/docs/error-docs';
import { projectNotFound } from '../../projects/projects.errors';
import { STAFF_ERRORS } from '../../staff/http/staff-api.decorator';

export {
  ProjectIdParam as ProjectParam,
  StaffAccess as AdminAccess,
  StaffApi as AdminApi,
} from '../../staff/http/staff-api.decorator';

/** Errors of every operation, and of those about a project. */
export const ADMIN_ERRORS: ErrorList = STAFF_ERRORS;
export const PROJECT_ERRORS: ErrorList = [projectNotFound(), ADMIN_ERRORS];
