/** Applied to the controllers of the admin API: guard, OpenAPI tags, and parsing of JSON bodies. */
import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiResponse, ApiTags } from '@nestjs/swagger';
import { PlatformAdminGuard } from '../../access/platform-admin.guard';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';

/** Responses of single routes, for ApiResponse(). */
export const PROJECT_NOT_FOUND = {
  status: 404,
  description: 'There is no such project',
  type: PlatformError,
};
export const INVALID = { status: 400, description: 'Invalid parameters', type: PlatformError };

/** For controllers that read bodies of other kinds themselves. */
export const AdminAccess = (): ClassDecorator =>
  applyDecorators(
    ApiTags('admin'),
    ApiBearerAuth('platform-admin-key'),
    ApiResponse({
      status: 401,
      description: 'The platform admin key is missing or wrong',
      type: PlatformError,
    }),
    ApiResponse({ status: 500, description: 'Internal error', type: PlatformError }),
    UseGuards(PlatformAdminGuard),
  );

export const AdminApi = (): ClassDecorator =>
  applyDecorators(AdminAccess(), UseInterceptors(JsonBodyInterceptor));
