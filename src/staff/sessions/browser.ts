/** The browsers from which staff sign in and change their own accounts. */
import type { Request, Response } from 'express';
import type { RequestOrigin } from '../../identity/request-origin';
import type { StaffMember } from '../accounts/staff-member';
import type { SessionOfRequest } from '../roles/staff';

/** A request and its response, which carry the cookies. */
export interface Browser {
  readonly request: Request;
  readonly response: Response;
  readonly origin: RequestOrigin;
}

/** A browser with the session of a staff member. */
export interface StaffBrowser extends Browser {
  readonly member: StaffMember;
  readonly session: SessionOfRequest;
}
