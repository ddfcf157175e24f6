/**
 * Chooses the provider by configuration. An SDK is loaded where it is used and nowhere else: by require(), because import()
 * of this package's own files would ask for names that only the build has.
 */
/* eslint-disable @typescript-eslint/no-require-imports */
import type { FactoryProvider } from '@nestjs/common';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
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
  return new DiskObjectStore(config);
}

export const OBJECT_STORE: FactoryProvider<ObjectStore> = {
  provide: ObjectStore,
  inject: [STORAGE_CONFIG],
  useFactory: createObjectStore,
};
