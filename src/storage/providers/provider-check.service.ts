/** Checks the provider at startup and logs errors of its configuration: a missing bucket, refused credentials. */
import { Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { ObjectStore } from './object-store';

@Injectable()
export class ProviderCheck implements OnApplicationBootstrap {
  private readonly logger = new Logger('Storage');

  constructor(
    private readonly store: ObjectStore,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {}

  /** Does not delay startup: only the bytes of files need the provider. */
  onApplicationBootstrap(): void {
    this.store.assertAvailable().catch((error: Error) => {
      const { message: reason } = error.cause instanceof Error ? error.cause : error;
      this.logger.error(`the provider "${this.config.provider}" cannot be used: ${reason}`);
    });
  }
}
