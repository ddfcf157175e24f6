/** Hands a controller the signed-in user's id and session; any other bearer is refused. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { invalidCredentials } from '../../access/access.errors';
import { ONE_FACTOR, TWO_FACTORS } from '../../access/caller';
import { SessionOwner } from '../session.repository';
import { UUID } from '../../common/text/uuid';

/** A user by whatever token, whose session is known only if Plinth issued the token. */
export interface TokenUser {
  readonly userId: string;
  readonly sessionId: string | null;
}

/** The route must use BearerGuard. @throws AppError 401 for the keys themselves and for tokens without a user */
export const CurrentTokenUser = createParamDecorator(
  (_data: unknown, context: ExecutionContext): TokenUser => {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller) throw new Error('this route lacks BearerGuard');
    const { userId, sessionId } = caller;
    if (userId === null || (sessionId !== null && !UUID.test(sessionId))) throw invalidCredentials();
    return { userId, sessionId };
  },
);

/** The route must use BearerGuard. @throws AppError 401 for every token that no session of ours stands behind */
export const CurrentSession = createParamDecorator(
  (_data: unknown, context: ExecutionContext): SessionOwner => {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller) throw new Error('this route lacks BearerGuard');
    const { userId, sessionId } = caller;
    if (userId === null || sessionId === null || !UUID.test(sessionId)) throw invalidCredentials();
    const aal = caller.tokenClaims.aal === TWO_FACTORS ? TWO_FACTORS : ONE_FACTOR;
    return { userId, sessionId, aal };
  },
);
