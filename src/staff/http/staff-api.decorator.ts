/**
 * Applied to the controllers of the administration: guard, OpenAPI tag, and their common errors. The document takes the
 * security of each operation from ROUTE_TABLE.
 */
import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { invalidCredentials, missingBearer } from '../../access/access.errors';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { ErrorList } from '../../http/docs/error-docs';
import { SERVER_ERRORS } from '../../http/docs/standard-errors';
import { projectNotFound } from '../../projects/projects.errors';
import { csrfFailed, roleForbids } from '../staff.errors';
import { StaffGuard } from './staff.guard';

/** Refusals of StaffGuard. */
export const STAFF_REFUSALS: ErrorList = [invalidCredentials(), missingBearer(), roleForbids(), csrfFailed()];
export const STAFF_ERRORS: ErrorList = [STAFF_REFUSALS, SERVER_ERRORS];
/** Errors of every operation about a project. */
export const PROJECT_ERRORS: ErrorList = [projectNotFound(), STAFF_ERRORS];

/** For controllers that read bodies of other kinds themselves. */
export const StaffAccess = (): ClassDecorator => applyDecorators(ApiTags('admin'), UseGuards(StaffGuard));

export const StaffApi = (): ClassDecorator =>
  applyDecorators(StaffAccess(), UseInterceptors(JsonBodyInterceptor));

export const ProjectIdParam = (): MethodDecorator & ClassDecorator =>
  ApiParam({
    name: 'id',
    type: String,
    description: 'The id of the project, as returned when it was created',
    example: 'k3v9x0a1b2c3d4e5f6g7',
  });
