/** Addresses that the storage does not have: still 401 first, and with the rate's headers. */
import { All, Controller } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { pathNotFound } from '../storage.errors';
import { StorageAccess } from './storage-api.decorator';

@ApiExcludeController()
@StorageAccess()
@Controller('p/:project_slug/storage')
export class UnknownPathController {
  @All()
  root(): never {
    throw pathNotFound();
  }

  @All('*path')
  below(): never {
    throw pathNotFound();
  }
}
