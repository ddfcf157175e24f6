/** Buckets and files of a project. */
import { Module } from '@nestjs/common';
import { AdmissionGuard } from '../access/admission.guard';
import { ApiKeyGuard } from '../access/api-key.guard';
import { BearerGuard } from '../access/bearer.guard';
import { SocketCredentials } from '../access/socket-credentials.service';
import { BucketRepository } from './buckets/bucket.repository';
import { BucketsService } from './buckets/buckets.service';
import { EntryListRepository } from './files/entry-list.repository';
import { FileContentRepository } from './files/file-content.repository';
import { FileListRepository } from './files/file-list.repository';
import { FileRepository } from './files/file.repository';
import { FilesService } from './files/files.service';
import { NamedFilesService } from './files/named-files.service';
import { TargetRepository } from './files/target.repository';
import { UploadService } from './files/upload.service';
import { BucketsController } from './http/buckets.controller';
import { ContentController } from './http/content.controller';
import { ContentResponder } from './http/content-responder';
import { FileListsController } from './http/file-lists.controller';
import { FilesController } from './http/files.controller';
import { KeylessRequests } from './http/keyless-requests.service';
import { ProjectStorageController } from './http/project-storage.controller';
import { RateHeaders } from './http/rate-headers';
import { StorageErrorRenderer } from './http/storage-error.renderer';
import { S3Bodies } from './http/s3/s3-bodies.service';
import { S3Cors } from './http/s3/s3-cors.service';
import { S3Buckets } from './http/s3/s3-buckets.service';
import { S3Controller } from './http/s3/s3.controller';
import { S3ErrorRenderer } from './http/s3/s3-error.renderer';
import { S3Listener } from './http/s3/s3-listener.service';
import { S3Multipart } from './http/s3/s3-multipart.service';
import { S3Objects } from './http/s3/s3-objects.service';
import { SignedUrlsController } from './http/signed-urls.controller';
import { StorageBucketsController } from './http/supabase/buckets.controller';
import { ObjectContentController } from './http/supabase/object-content.controller';
import { ObjectUploadsController } from './http/supabase/object-uploads.controller';
import { ObjectsController } from './http/supabase/objects.controller';
import { ResumableUploadsController } from './http/supabase/resumable-uploads.controller';
import { StorageJsErrorRenderer } from './http/supabase/storage-js-error.renderer';
import { UnknownPathController } from './http/unknown-path.controller';
import { UploadController } from './http/upload.controller';
import { RenditionRepository } from './pictures/rendition.repository';
import { RenditionsService } from './pictures/renditions.service';
import { ObjectStore } from './providers/object-store';
import { OBJECT_STORE } from './providers/object-store.provider';
import { ProviderCheck } from './providers/provider-check.service';
import { QuotaWarnings } from './quotas/quota-warnings';
import { DeletedProjects } from './removal/deleted-projects.service';
import { ObjectRemover } from './removal/object-remover.service';
import { ProjectEnds } from './removal/project-ends.service';
import { RemovalHoldRepository } from './removal/removal-hold.repository';
import { MultipartUploadsService } from './resumable/multipart-uploads.service';
import { ResumableUploadRepository } from './resumable/resumable-upload.repository';
import { UploadWriter } from './resumable/upload-writer.service';
import { ResumableUploadsService } from './resumable/resumable-uploads.service';
import { QuarantineRepository } from './scan/quarantine.repository';
import { VirusScan } from './scan/virus-scan.service';
import { StorageMetrics } from './storage-metrics.service';
import { StorageTransaction } from './storage-transaction';
import { StorageComparison } from './sweep/storage-comparison.service';
import { StorageSweep } from './sweep/storage-sweep.service';
import { SignedUploadsService } from './signed-urls/signed-uploads.service';
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
    // Each takes paths that the following ones would take for the name of a bucket.
    StorageBucketsController,
    ObjectsController,
    ObjectContentController,
    ObjectUploadsController,
    ResumableUploadsController,
    S3Controller,
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
    EntryListRepository,
    FileListRepository,
    FileRepository,
    FilesService,
    KeylessRequests,
    MultipartUploadsService,
    NamedFilesService,
    ObjectRemover,
    ProjectEnds,
    QuarantineRepository,
    QuotaWarnings,
    RateHeaders,
    RemovalHoldRepository,
    RenditionRepository,
    RenditionsService,
    ResumableUploadRepository,
    ResumableUploadsService,
    S3Bodies,
    S3Buckets,
    S3Cors,
    S3ErrorRenderer,
    S3Listener,
    S3Multipart,
    S3Objects,
    SignedUploadsService,
    SignedUrlsService,
    SocketCredentials,
    StorageComparison,
    StorageErrorRenderer,
    StorageJsErrorRenderer,
    StorageMetrics,
    StorageSweep,
    StorageTransaction,
    TargetRepository,
    UploadService,
    UploadWriter,
    VirusScan,
    OBJECT_STORE,
    ProviderCheck,
  ],
  exports: [
    ObjectStore,
    S3Cors,
    RemovalHoldRepository,
    S3ErrorRenderer,
    StorageErrorRenderer,
    StorageJsErrorRenderer,
    StorageSweep,
  ],
})
export class StorageModule {}
