/** The property of a request that StaffGuard sets. Read it through the decorators of current-staff.decorator.ts. */
import type { StaffCaller } from '../roles/staff';

declare global {
  namespace Express {
    interface Request {
      staff?: StaffCaller;
    }
  }
}
