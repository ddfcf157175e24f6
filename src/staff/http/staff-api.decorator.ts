/**
 * Applied to the controllers of the administration: guards, OpenAPI tag, and their common errors. The document takes the
 * security of each operation from ROUTE_TABLE. Parameter decorators give them the sender.
 */
import {
  applyDecorators,
  type CanActivate,
  RequestMethod,
  type Type,
  UseGuards,
  UseInterceptors,
  createParamDecorator,
  ExecutionContext,
} from '@nestjs/common';
import { GUARDS_METADATA, METHOD_METADATA } from '@nestjs/common/constants';
import { ApiTags } from '@nestjs/swagger';
import { invalidCredentials, missingBearer } from '../../access/access.errors';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { documentHandlers, type Handler } from '../../http/docs/controller-docs';
import type { ErrorList } from '../../http/docs/error-docs';
import { SERVER_ERRORS } from '../../http/docs/standard-errors';
import { PLATFORM_DOCS } from '../../http/errors/platform-error-docs';
import { ClientThrottlerGuard, LIMIT_HEADERS } from '../../identity/http/client-throttler.guard';
import { projectNotFound } from '../../projects/projects.errors';
import {
  csrfFailed,
  foreignOrigin,
  staffMemberRequired,
  roleForbids,
  sessionRequired,
} from '../staff.errors';
import { OwnOriginGuard, StaffGuard, staffOf, StaffMemberGuard, StaffSessionGuard } from './staff.guard';
import type { Request, Response } from 'express';
import type { Browser, StaffBrowser } from '../sessions/browser';
import { originOf } from '../../identity/http/current-origin.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import type { StaffMember } from '../accounts/staff-member';
import { actorOf, StaffCaller } from '../roles/staff';

const STAFF_ERRORS: ErrorList = [
  invalidCredentials(),
  missingBearer(),
  roleForbids(),
  csrfFailed(),
  SERVER_ERRORS,
];

/** For routes whose requests are limited by client address. */
export const LIMITED_DOCS = PLATFORM_DOCS.withHeaders(LIMIT_HEADERS);

const guardsOf = (method: object): unknown[] =>
  (Reflect.getMetadata(GUARDS_METADATA, method) as unknown[] | undefined) ?? [];

/** For controllers that read other types of bodies themselves. @param guards run after StaffGuard */
export function StaffAccess(...guards: Type<CanActivate>[]): ClassDecorator {
  const errorsOf = ({ path, method }: Handler): ErrorList => {
    const all = [...guards, ...guardsOf(method)];
    return [
      all.includes(StaffSessionGuard) ? sessionRequired() : [],
      all.includes(StaffMemberGuard) ? staffMemberRequired() : [],
      path.includes('projects/:id') ? projectNotFound() : [],
      STAFF_ERRORS,
    ];
  };
  return applyDecorators(
    ApiTags('admin'),
    UseGuards(StaffGuard, ...guards),
    documentHandlers((handler) => ({ docs: PLATFORM_DOCS, errors: errorsOf(handler) })),
  );
}

export const StaffApi = (...guards: Type<CanActivate>[]): ClassDecorator =>
  applyDecorators(StaffAccess(...guards), UseInterceptors(JsonBodyInterceptor));

/**
 * For routes that need no credential, and have @PublicRoute(). Pages of other sites cannot use routes that
 * may begin a session.
 */
export const PublicStaffApi = (): ClassDecorator =>
  applyDecorators(
    ApiTags('admin'),
    UseGuards(OwnOriginGuard),
    UseInterceptors(JsonBodyInterceptor),
    documentHandlers(({ method }) => {
      const isPost = Reflect.getMetadata(METHOD_METADATA, method) === RequestMethod.POST;
      const isLimited = guardsOf(method).includes(ClientThrottlerGuard);
      return {
        docs: isLimited ? LIMITED_DOCS : PLATFORM_DOCS,
        errors: [isPost ? foreignOrigin() : [], SERVER_ERRORS],
      };
    }),
  );

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

export const CurrentStaff = createParamDecorator((_data: unknown, context: ExecutionContext): StaffCaller =>
  staffOf(requestOf(context)),
);

/** The staff member; the route must use StaffMemberGuard or StaffSessionGuard. */
export const CurrentStaffMember = createParamDecorator(
  (_data: unknown, context: ExecutionContext): StaffMember => {
    const { member } = staffOf(requestOf(context));
    if (!member) throw new Error('this route lacks StaffMemberGuard');
    return member;
  },
);

const browserOf = (context: ExecutionContext): Browser => {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  return { request, response: http.getResponse<Response>(), origin: originOf(request) };
};

export const CurrentBrowser = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  browserOf(context),
);

/** The route must use StaffSessionGuard. */
export const CurrentStaffBrowser = createParamDecorator(
  (_data: unknown, context: ExecutionContext): StaffBrowser => {
    const { member, session } = staffOf(requestOf(context));
    if (!member || !session) throw new Error('this route lacks StaffSessionGuard');
    return { ...browserOf(context), member, session };
  },
);

/** The author of a change, for the audit log. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor => {
  const request = requestOf(context);
  return actorOf(staffOf(request), request.ip ?? null);
});
