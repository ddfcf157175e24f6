/** Buckets and files of a project. */
import { Module } from '@nestjs/common';
import { AdmissionGuard } from '../access/admission.guard';
import { ApiKeyGuard } from '../access/api-key.guard';
import { BearerGuard } from '../access/bearer.guard';
import { BucketRepository } from './buckets/bucket.repository';
import { BucketsService } from './buckets/buckets.service';
import { FileContentRepository } from './files/file-content.repository';
import { FileListRepository } from './files/file-list.repository';
import { FileRepository } from './files/file.repository';
import { FilesService } from './files/files.service';
import { TargetRepository } from './files/target.repository';
import { UploadService } from './files/upload.service';
import { BucketsController } from './http/buckets.controller';
import { ContentController } from './http/content.controller';
import { ContentResponder } from './http/content-responder';
import { FileListsController } from './http/file-lists.controller';
import { FilesController } from './http/files.controller';
import { ProjectStorageController } from './http/project-storage.controller';
import { RateHeaders } from './http/rate-headers';
import { StorageErrorRenderer } from './http/storage-error.renderer';
import { SignedUrlsController } from './http/signed-urls.controller';
import { UnknownPathController } from './http/unknown-path.controller';
import { UploadController } from './http/upload.controller';
import { ObjectStore } from './providers/object-store';
import { OBJECT_STORE } from './providers/object-store.provider';
import { ProviderCheck } from './providers/provider-check.service';
import { QuotaWarnings } from './quotas/quota-warnings';
import { DeletedProjects } from './removal/deleted-projects.service';
import { ObjectRemover } from './removal/object-remover.service';
import { ProjectEnds } from './removal/project-ends.service';
import { RemovalHoldRepository } from './removal/removal-hold.repository';
import { StorageMetrics } from './storage-metrics.service';
import { StorageTransaction } from './storage-transaction';
import { StorageComparison } from './sweep/storage-comparison.service';
import { StorageSweep } from './sweep/storage-sweep.service';
import { SignedUrlsService } from './signed-urls/signed-urls.service';

@Module({
  // The last one matches every path that the others do not.
  controllers: [
    ProjectStorageController,
    BucketsController,
    UploadController,
    FileListsController,
    FilesController,
    ContentController,
    SignedUrlsController,
    UnknownPathController,
  ],
  providers: [
    AdmissionGuard,
    ApiKeyGuard,
    BearerGuard,
    BucketRepository,
    BucketsService,
    ContentResponder,
    DeletedProjects,
    FileContentRepository,
    FileListRepository,
    FileRepository,
    FilesService,
    ObjectRemover,
    ProjectEnds,
    QuotaWarnings,
    RateHeaders,
    RemovalHoldRepository,
    SignedUrlsService,
    StorageComparison,
    StorageErrorRenderer,
    StorageMetrics,
    StorageSweep,
    StorageTransaction,
    TargetRepository,
    UploadService,
    OBJECT_STORE,
    ProviderCheck,
  ],
  exports: [ObjectStore, RemovalHoldRepository, StorageErrorRenderer, StorageSweep],
})
export class StorageModule {}
