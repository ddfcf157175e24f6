/** Parameter decorators: the signed-in user and session of the request. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ONE_FACTOR, TWO_FACTORS } from '../../access/caller';
import { SessionOwner } from '../accounts/account-statements';

export interface TokenUser {
  readonly userId: string;
  /** Null for a token that the project's own backend signed. */
  readonly sessionId: string | null;
}

/** The route must use UserGuard. */
export const CurrentTokenUser = createParamDecorator(
  (_data: unknown, context: ExecutionContext): TokenUser => {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller || caller.userId === null) throw new Error('this route lacks UserGuard');
    return { userId: caller.userId, sessionId: caller.sessionId };
  },
);

/** The route must use SessionGuard. */
export const CurrentSession = createParamDecorator(
  (_data: unknown, context: ExecutionContext): SessionOwner => {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller || caller.userId === null || caller.sessionId === null)
      throw new Error('this route lacks SessionGuard');
    const aal = caller.tokenClaims.aal === TWO_FACTORS ? TWO_FACTORS : ONE_FACTOR;
    return { userId: caller.userId, sessionId: caller.sessionId, aal };
  },
);
