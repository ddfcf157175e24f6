/** What the controllers of the admin API have in common: the guard, OpenAPI tags, parsing of JSON bodies, and errors. */
export { StaffAccess as AdminAccess, StaffApi as AdminApi } from '../../staff/http/staff-api.decorator';
