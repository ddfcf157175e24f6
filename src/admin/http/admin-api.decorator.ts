/** Applied to the controllers of the admin API: guard, OpenAPI tags, and parsing of JSON bodies. */
import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { invalidCredentials, missingBearer } from '../../access/access.errors';
import { PlatformAdminGuard } from '../../access/platform-admin.guard';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { ErrorList } from '../../http/docs/error-docs';
import { SERVER_ERRORS } from '../../http/docs/standard-errors';
import { projectNotFound } from '../../projects/projects.errors';

/** Errors of every operation, and of those about a project. */
export const ADMIN_ERRORS: ErrorList = [invalidCredentials(), missingBearer(), SERVER_ERRORS];
export const PROJECT_ERRORS: ErrorList = [projectNotFound(), ADMIN_ERRORS];

export const ProjectParam = (): MethodDecorator & ClassDecorator =>
  ApiParam({
    name: 'id',
    type: String,
    description: 'The id of the project, as the answer to its creation gives it',
    example: 'k3v9x0a1b2c3d4e5f6g7',
  });

/** For controllers that read bodies of other kinds themselves. */
export const AdminAccess = (): ClassDecorator =>
  applyDecorators(ApiTags('admin'), ApiBearerAuth('platform-admin-key'), UseGuards(PlatformAdminGuard));

export const AdminApi = (): ClassDecorator =>
  applyDecorators(AdminAccess(), UseInterceptors(JsonBodyInterceptor));
