/**
 * The S3 protocol. Its operations are distinguished by method, path and query, which a path router cannot do;
 * the OpenAPI document leaves them out (docs/reference/storage-s3.md lists them).
 */
import { All, Controller, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { S3Buckets } from './s3-buckets.service';
import { aclOf, type BucketCall, callOf, type ObjectCall, type S3Call } from './s3-call';
import { S3Cors } from './s3-cors.service';
import { S3Multipart } from './s3-multipart.service';
import { S3Guard } from './s3.guard';
import { S3Objects } from './s3-objects.service';
import { notImplemented, s3Error } from './s3.errors';

/** Query parameters that turn a request into another operation. */
const SUBRESOURCES = new Set([
  'accelerate', 'acl', 'analytics', 'attributes', 'cors', 'delete', 'encryption', 'intelligent-tiering', 'inventory', 'legal-hold',
  'lifecycle', 'location', 'logging', 'metrics', 'notification', 'object-lock', 'ownershipControls', 'policy', 'policyStatus',
  'publicAccessBlock', 'replication', 'requestPayment', 'restore', 'retention', 'select', 'tagging', 'torrent', 'uploadId', 'uploads',
  'versioning', 'versions', 'website',
]); // prettier-ignore

type Handlers<C> = Readonly<Record<string, (call: C, response: Response) => Promise<void>>>;

@ApiExcludeController()
@UseGuards(S3Guard)
@Controller('p/:project_slug/storage/v1/s3')
export class S3Controller {
  private readonly onBuckets: Handlers<BucketCall>;
  private readonly onObjects: Handlers<ObjectCall>;

  constructor(
    private readonly buckets: S3Buckets,
    objects: S3Objects,
    multipart: S3Multipart,
    cors: S3Cors,
  ) {
    this.onBuckets = {
      GET: (call, response) => buckets.listObjects(call, response),
      HEAD: (call, response) => buckets.head(call, response),
      PUT: (call, response) => buckets.create(call, response),
      DELETE: (call, response) => buckets.remove(call, response),
      'GET location': (call, response) => buckets.describe(call, response, 'LocationConstraint'),
      'GET versioning': (call, response) => buckets.describe(call, response, 'VersioningConfiguration'),
      'GET cors': (call, response) => cors.show(call, response),
      'PUT cors': (call, response) => cors.set(call, response),
      'DELETE cors': (call, response) => cors.remove(call, response),
      'PUT acl': (call, response) => buckets.putAcl(call, response),
      'GET versions': (call, response) => buckets.listVersions(call, response),
      'GET acl': (call, response) =>
        buckets.describe(call, response, 'AccessControlPolicy', aclOf(call.caller)),
      'GET uploads': (call, response) => multipart.list(call, response),
      'POST delete': (call, response) => objects.removeMany(call, response),
    };
    this.onObjects = {
      GET: (call, response) => objects.get(call, response),
      HEAD: (call, response) => objects.get(call, response),
      PUT: (call, response) =>
        call.request.headers['x-amz-copy-source'] === undefined
          ? objects.put(call, response)
          : objects.copy(call, response),
      DELETE: (call, response) => objects.remove(call, response),
      'POST uploads': (call, response) => multipart.create(call, response),
      'PUT uploadId': (call, response) => multipart.addPart(call, response),
      'GET uploadId': (call, response) => multipart.listParts(call, response),
      'POST uploadId': (call, response) => multipart.complete(call, response),
      'DELETE uploadId': (call, response) => multipart.abort(call, response),
      'GET acl': (call, response) => objects.acl(call, response),
      'PUT acl': (call, response) => objects.putAcl(call, response),
      'GET tagging': (call, response) => objects.getTags(call, response),
      'PUT tagging': (call, response) => objects.putTags(call, response),
      'DELETE tagging': (call, response) => objects.removeTags(call, response),
    };
  }

  @All(['', '*path'])
  async handle(@Req() request: Request, @Res() response: Response): Promise<void> {
    const call = callOf(request);
    const { bucket, key } = call;
    const operation = operationOf(call);
    if (bucket === null) {
      if (operation !== 'GET') throw unknownOperation(operation);
      await this.buckets.list(call, response);
    } else if (key === null) {
      await handlerOf(this.onBuckets, operation)({ ...call, bucket }, response);
    } else {
      await handlerOf(this.onObjects, operation)({ ...call, bucket, key }, response);
    }
    // The rest of the body, which was not read, is discarded when the connection ends.
    request.resume();
  }
}

function operationOf({ request, query }: S3Call): string {
  return [request.method, ...[...query.keys()].filter((name) => SUBRESOURCES.has(name))].join(' ');
}

function handlerOf<C>(handlers: Handlers<C>, operation: string): Handlers<C>[string] {
  const handler = Object.hasOwn(handlers, operation) ? handlers[operation] : undefined;
  if (!handler) throw unknownOperation(operation);
  return handler;
}

/** Features that buckets do not have. Clients ask for them, so they get the answer of S3 for a bucket without the feature. */
const ABSENT: Readonly<Record<string, string>> = {
  'GET policy': 'NoSuchBucketPolicy',
  'GET lifecycle': 'NoSuchLifecycleConfiguration',
  'GET object-lock': 'ObjectLockConfigurationNotFoundError',
  'GET encryption': 'ServerSideEncryptionConfigurationNotFoundError',
  'GET website': 'NoSuchWebsiteConfiguration',
  'GET publicAccessBlock': 'NoSuchPublicAccessBlockConfiguration',
  'GET ownershipControls': 'OwnershipControlsNotFoundError',
  'GET replication': 'ReplicationConfigurationNotFoundError',
};

function unknownOperation(operation: string): Error {
  const code = ABSENT[operation];
  return code === undefined ? notImplemented(operation) : s3Error(404, code, 'The bucket has none');
}
