/** Gives a controller the outcome of the guards. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Project } from '../projects/project';
import { Caller } from './caller';

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

/** The caller; the route must use BearerGuard. */
export function callerOf({ caller }: Request): Caller {
  if (!caller) throw new Error('this route lacks BearerGuard');
  return caller;
}

/** The caller as a parameter. Nest runs every pipe on a decorated parameter, so the busiest routes call callerOf(). */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller =>
  callerOf(requestOf(context)),
);

/** The project of the key; the route must use ApiKeyGuard. */
export function projectOf({ apiKey }: Request): Project {
  if (!apiKey) throw new Error('this route lacks ApiKeyGuard');
  return apiKey.project;
}

export const CurrentProject = createParamDecorator((_data: unknown, context: ExecutionContext): Project =>
  projectOf(requestOf(context)),
);
