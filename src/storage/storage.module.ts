/** Buckets and files of a project. */
import { FolderModule } from '../infra/folder-module';
import { AdmissionGuard } from '../access/admission.guard';
import { ApiKeyGuard } from '../access/api-key.guard';
import { BearerGuard } from '../access/bearer.guard';
import { SocketCredentials } from '../access/socket-credentials.service';
import { BucketsController } from './http/buckets.controller';
import { ContentController } from './http/content.controller';
import { FileListsController } from './http/file-lists.controller';
import { FilesController } from './http/files.controller';
import { ProjectStorageController } from './http/project-storage.controller';
import { S3Controller } from './http/s3/s3.controller';
import { S3Listener } from './http/s3/s3-listener.service';
import { SignedUrlsController } from './http/signed-urls.controller';
import { StorageBucketsController } from './http/supabase/buckets.controller';
import { ObjectContentController } from './http/supabase/object-content.controller';
import { ObjectUploadsController } from './http/supabase/object-uploads.controller';
import { ObjectsController } from './http/supabase/objects.controller';
import { ResumableUploadsController } from './http/supabase/resumable-uploads.controller';
import { UnknownPathController } from './http/unknown-path.controller';
import { UploadController } from './http/upload.controller';
import { ObjectStore } from './providers/object-store';
import { OBJECT_STORE, ProviderCheck } from './providers/object-store.provider';
import { ContentResponder } from './http/content-responder';
import { RateHeaders } from './http/rate-headers';
import { StorageTransaction } from './storage-transaction';

@FolderModule(__dirname, {
  // The last controller matches every path that the others do not.
  controllers: [
    ProjectStorageController,
    BucketsController,
    UploadController,
    FileListsController,
    FilesController,
    ContentController,
    SignedUrlsController,
    // Each of them handles paths whose first segment the following controllers would take for the name of a bucket.
    StorageBucketsController,
    ObjectsController,
    ObjectContentController,
    ObjectUploadsController,
    ResumableUploadsController,
    S3Controller,
    UnknownPathController,
  ],
  providers: [
    StorageTransaction,
    RateHeaders,
    ContentResponder,
    AdmissionGuard,
    ApiKeyGuard,
    BearerGuard,
    S3Listener,
    SocketCredentials,
    OBJECT_STORE,
    ProviderCheck,
  ],
  exports: [ObjectStore],
})
export class StorageModule {}
