/**
 * Creates the configured provider. An SDK is loaded only when it is used, by require(): import() would need the names of
 * compiled files, which exist only in the build.
 */
/* oxlint-disable typescript/no-require-imports */
import { type FactoryProvider, Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { ArchivedDiskObjectStore } from './archived-disk-object-store';
import { DiskObjectStore } from './disk-object-store';
import type * as Gcs from './gcs-object-store';
import { ObjectStore } from './object-store';
import type * as S3 from './s3-object-store';

export function createObjectStore(config: StorageConfig): ObjectStore {
  if (config.gcs) {
    const { GcsObjectStore } = require('./gcs-object-store') as typeof Gcs;
    return new GcsObjectStore(config.gcs);
  }
  if (config.s3) {
    const { S3ObjectStore } = require('./s3-object-store') as typeof S3;
    return new S3ObjectStore(config.s3, config.maxFileBytes);
  }
  if (!config.archive) return new DiskObjectStore(config);
  return new ArchivedDiskObjectStore(config, createObjectStore(config.archive));
}

export const OBJECT_STORE: FactoryProvider<ObjectStore> = {
  provide: ObjectStore,
  inject: [STORAGE_CONFIG],
  useFactory: createObjectStore,
};

/** Checks the provider at startup and logs errors of its configuration: a missing bucket, refused credentials. */
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
