/** Shared by the controllers of SCIM, which are not in the OpenAPI document (docs/reference/scim.md). */
import {
  applyDecorators,
  createParamDecorator,
  ExecutionContext,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request } from 'express';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { MAX_PAGE } from '../scim-discovery';
import type { ScimPage, ScimSelection } from '../scim-people';
import type { ScimCaller } from '../scim.service';
import { ScimGuard } from './scim.guard';

export const ScimApi = (): ClassDecorator =>
  applyDecorators(ApiExcludeController(), UseGuards(ScimGuard), UseInterceptors(JsonBodyInterceptor));

/** Parameters of a list. */
export interface ScimQuery extends ScimSelection {
  readonly filter?: unknown;
  readonly startIndex?: unknown;
  readonly count?: unknown;
}

/** The sender; the route must use ScimGuard. */
export const CurrentDirectory = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ScimCaller => {
    const { scim } = context.switchToHttp().getRequest<Request>();
    if (!scim) throw new Error('this route lacks ScimGuard');
    return scim;
  },
);

export const pageIn = ({ startIndex, count }: ScimQuery): ScimPage => ({
  offset: numberOf(startIndex, 1, 1, 1_000_000_000) - 1,
  limit: numberOf(count, 100, 0, MAX_PAGE),
});

function numberOf(value: unknown, otherwise: number, least: number, most: number): number {
  const number = typeof value === 'string' && /^-?\d{1,12}$/.test(value) ? Number(value) : otherwise;
  return Math.min(Math.max(number, least), most);
}
