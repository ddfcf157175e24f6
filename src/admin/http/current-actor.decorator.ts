/** The author of a change, for the audit log. There is one admin key, so only the address distinguishes people. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Actor } from '../../projects/audit-log.repository';

export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor => {
  const { ip } = context.switchToHttp().getRequest<Request>();
  return { name: 'platform-admin', address: ip ?? null };
});
