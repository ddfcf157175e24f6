/** The author of a change, for the audit log. */
export { CurrentActor } from '../../staff/http/current-staff.decorator';
