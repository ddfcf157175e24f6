/** Paths below storage that do not exist: 401 still takes precedence, and the response has the rate limit headers. */
import { All, Controller } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { pathNotFound } from '../storage.errors';
import { StorageAccess } from './storage-api.decorator';

@ApiExcludeController()
@StorageAccess()
@Controller('p/:project_slug/storage')
export class UnknownPathController {
  @All(['', '*path'])
  refuse(): never {
    throw pathNotFound();
  }
}
