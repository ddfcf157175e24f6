/** Hands a controller what the guards found out. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Project } from '../projects/project';
import { Caller } from './caller';
import { VerifiedApiKey } from './strategies/api-key.strategy';

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

/** The caller; the route must use BearerGuard. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { caller } = requestOf(context);
  if (!caller) throw new Error('this route lacks BearerGuard');
  return caller;
});

/** The verified key; the route must use ApiKeyGuard. */
export const CurrentApiKey = createParamDecorator(
  (_data: unknown, context: ExecutionContext): VerifiedApiKey => {
    const { apiKey } = requestOf(context);
    if (!apiKey) throw new Error('this route lacks ApiKeyGuard');
    return apiKey;
  },
);

/** The project of the key; the route must use ApiKeyGuard. */
export const CurrentProject = createParamDecorator((_data: unknown, context: ExecutionContext): Project => {
  const { apiKey } = requestOf(context);
  if (!apiKey) throw new Error('this route lacks ApiKeyGuard');
  return apiKey.project;
});
