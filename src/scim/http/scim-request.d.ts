/** The property of a request that ScimGuard sets. */
import type { ScimCaller } from '../scim.service';

declare global {
  namespace Express {
    interface Request {
      scim?: ScimCaller;
    }
  }
}
