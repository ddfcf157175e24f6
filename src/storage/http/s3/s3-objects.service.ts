/** Operations on objects. Each sends its own response. */
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { JsonObject } from '../../../common/text/json';
import { evaluatePreconditions } from '../../../http/syntax/preconditions';
import { isContentType, UNKNOWN_TYPE } from '../../content-type/content-type';
import type { S3File } from '../../files/file';
import { FileContentRepository } from '../../files/file-content.repository';
import { FilesService } from '../../files/files.service';
import { type FileAddress, NamedFilesService } from '../../files/named-files.service';
import type { UploadForm } from '../../files/upload';
import { UploadService } from '../../files/upload.service';
import { warnOfQuotas } from '../../quotas/quota-warnings';
import { fileNotFound, forbidden, preconditionFailed } from '../../storage.errors';
import { ContentResponder } from '../content-responder';
import {
  assertPrivateAcl,
  assertSupported,
  metadataHeaders,
  metadataOf,
  overriddenHeaders,
  overriddenType,
  storedTags,
  TAGS,
  tagsOf,
} from './object-headers';
import { S3Bodies } from './s3-bodies.service';
import { aclOf, type BucketCall, type ObjectCall, type S3Call, sourceOf } from './s3-call';
import { invalidArgument, invalidRequest, malformedXml, notImplemented } from './s3.errors';
import { childrenOf, printXml, textIn, type XmlMembers } from './xml';

const MAX_DELETED = 1_000;

export const quoted = (etag: string): string => `"${etag}"`;

/** Writes a document. */
export function sendXml(response: Response, root: string, members: XmlMembers): void {
  response.status(200).type('application/xml').send(printXml(root, members));
}

@Injectable()
export class S3Objects {
  constructor(
    private readonly contents: FileContentRepository,
    private readonly files: NamedFilesService,
    private readonly filesById: FilesService,
    private readonly uploads: UploadService,
    private readonly responder: ContentResponder,
    private readonly bodies: S3Bodies,
  ) {}

  /** GetObject and HeadObject: ranges and conditions as in a download. */
  async get({ caller, bucket, key, query, request }: ObjectCall, response: Response): Promise<void> {
    if (query.has('partNumber')) throw notImplemented('partNumber');
    if (query.has('versionId') && query.get('versionId') !== 'null') throw fileNotFound();
    const [overridden, contentType] = [overriddenHeaders(query), overriddenType(query)];
    let file: S3File | null = null;
    await this.responder.send(request, response, {
      route: 'download',
      pdfInline: caller.project.settings.preview_pdf_inline,
      etag: () => quoted(file?.etag ?? ''),
      type: ({ contentType }) => (isContentType(contentType) ? contentType : UNKNOWN_TYPE),
      headers: () => ({ ...(file ? metadataHeaders(file) : {}), ...overridden }),
      find: async () => {
        file = await this.contents.findS3File(caller, bucket, key);
        return file && { ...file, contentType: contentType ?? file.contentType };
      },
    });
  }

  /** @throws AppError 404 if there is no such object */
  async find({ caller }: S3Call, { bucket, filename }: FileAddress): Promise<S3File> {
    const file = await this.contents.findS3File(caller, bucket, filename);
    if (!file) throw fileNotFound();
    return file;
  }

  async put(call: ObjectCall, response: Response): Promise<void> {
    const { caller, bucket, key, request } = call;
    assertSupported(request);
    const metadata = JSON.stringify(metadataOf(request));
    const { upsert, replaces } = await this.writeCondition(call);
    let form: UploadForm | null = null;
    const { record, marks } = await this.uploads.upload(caller, {
      bucket,
      given: { filename: key, upsert: String(upsert), metadata, cacheControl: request.get('cache-control') },
      announcedLength: announcedLength(
        request.get('x-amz-decoded-content-length') ?? request.get('content-length'),
      ),
      replaces,
      receive: async (held) => (form = await this.bodies.openFile(call, held)),
    });
    warnOfQuotas(caller.project, record, marks, response);
    response
      .set('ETag', quoted((form as UploadForm | null)?.etag?.() ?? ''))
      .status(200)
      .end();
  }

  /**
   * `If-None-Match: *` allows only a new object, `If-Match` only the replacement of that object.
   * @throws AppError 404 or 412 if the condition is not met, 501 for other conditions
   */
  async writeCondition(call: ObjectCall): Promise<{ upsert: boolean; replaces?: S3File['address'] }> {
    const [absent, present] = [call.request.get('if-none-match'), call.request.get('if-match')];
    if (absent !== undefined && absent !== '*') throw notImplemented('If-None-Match with an entity tag');
    if (present === undefined) return { upsert: absent === undefined };
    const file = await this.find(call, { bucket: call.bucket, filename: call.key });
    const state = { etag: quoted(file.etag), lastModified: file.updatedAt };
    if (evaluatePreconditions({ ifMatch: requote(present) }, state) === 'failed') throw preconditionFailed();
    return { upsert: true, replaces: file.address };
  }

  async copy(call: ObjectCall, response: Response): Promise<void> {
    const { caller, bucket, key, request } = call;
    assertSupported(request);
    const source = await this.copySource(call);
    const { upsert } = await this.writeCondition(call);
    const isReplaced = directive(request.get('x-amz-metadata-directive'));
    const isRetagged = directive(request.get('x-amz-tagging-directive'));
    const target = { bucket, filename: key };
    const given = metadataOf(request);
    const metadata: JsonObject = {
      ...withoutTags(isReplaced ? given : source.file.metadata),
      ...onlyTags(isRetagged ? given : source.file.metadata),
    };
    const contentType = isReplaced ? request.get('content-type') : undefined;
    const isSame = source.address.bucket === bucket && source.address.filename === key;
    if (isSame && !isReplaced && !isRetagged)
      throw invalidRequest('A copy of an object to itself must replace its metadata or its tags');
    const { record } = isSame
      ? await this.filesById.updateFile(caller, source.file.id, { metadata, content_type: contentType })
      : await this.files.copyFile(caller, source.address, target, {
          upsert,
          metadata,
          content_type: contentType,
          etag: { objectId: source.file.address.objectId, tag: source.file.etag },
        });
    sendXml(response, 'CopyObjectResult', {
      ETag: quoted(source.file.etag),
      LastModified: record.updated_at,
    });
  }

  /** The source of a copy, after its conditions were checked. @throws AppError as sourceOf(), 412 if a condition is not met */
  async copySource(call: S3Call): Promise<{ address: FileAddress; file: S3File }> {
    const header = (name: string): string | undefined => call.request.get(`x-amz-copy-source${name}`);
    const { address } = sourceOf(call, header('') ?? '');
    const file = await this.find(call, address);
    const outcome = evaluatePreconditions(
      {
        ifMatch: requote(header('-if-match')),
        ifNoneMatch: requote(header('-if-none-match')),
        ifModifiedSince: header('-if-modified-since'),
        ifUnmodifiedSince: header('-if-unmodified-since'),
      },
      { etag: quoted(file.etag), lastModified: file.updatedAt },
    );
    if (outcome !== 'met') throw preconditionFailed();
    return { address, file };
  }

  /** Also succeeds for an object that does not exist. @throws AppError 403 if a policy refuses */
  async remove({ caller, bucket, key }: ObjectCall, response: Response): Promise<void> {
    const removed = await this.files.removeFiles(caller, bucket, [key]);
    if (removed.length === 0 && (await this.contents.findS3File(caller, bucket, key))) throw forbidden();
    response.status(204).end();
  }

  /** DeleteObjects. Objects that the caller may see but not delete are reported as errors in the response. */
  async removeMany(call: BucketCall, response: Response): Promise<void> {
    const { caller, bucket } = call;
    const body = await this.bodies.readXml(call, 'Delete');
    const keys = childrenOf(body, 'Object').map((object) => textIn(object, 'Key') ?? '');
    if (keys.length === 0 || keys.length > MAX_DELETED || keys.includes('')) throw malformedXml();
    const storable = keys.filter((key) => !key.includes('\0') && key.isWellFormed());
    const removed = new Set(
      (await this.files.removeFiles(caller, bucket, storable)).map(({ filename }) => filename),
    );
    const left = storable.filter((key) => !removed.has(key));
    const visible = await this.contents.findNamedRevisions(caller, bucket, left);
    const isQuiet = textIn(body, 'Quiet') === 'true';
    sendXml(response, 'DeleteResult', {
      Deleted: isQuiet ? [] : keys.filter((key) => !visible.has(key)).map((Key) => ({ Key })),
      Error: [...visible.keys()].map((Key) => ({ Key, Code: 'AccessDenied', Message: forbidden().message })),
    });
  }

  async acl(call: ObjectCall, response: Response): Promise<void> {
    await this.find(call, { bucket: call.bucket, filename: call.key });
    sendXml(response, 'AccessControlPolicy', aclOf(call.caller));
  }

  /**
   * PutObjectAcl: accepts only the ACL that every object has.
   * @throws AppError 404 for an unknown object, 501 for any other ACL
   */
  async putAcl(call: ObjectCall, response: Response): Promise<void> {
    await this.find(call, { bucket: call.bucket, filename: call.key });
    assertPrivateAcl(call.request);
    response.status(200).end();
  }

  async getTags(call: ObjectCall, response: Response): Promise<void> {
    const file = await this.find(call, { bucket: call.bucket, filename: call.key });
    const Tag = storedTags(file).map(([Key, Value]) => ({ Key, Value }));
    sendXml(response, 'Tagging', { TagSet: { Tag } });
  }

  async putTags(call: ObjectCall, response: Response): Promise<void> {
    const [set] = childrenOf(await this.bodies.readXml(call, 'Tagging'), 'TagSet');
    if (!set) throw malformedXml();
    const pairs = childrenOf(set, 'Tag').map(
      (tag) => [textIn(tag, 'Key') ?? '', textIn(tag, 'Value') ?? ''] as const,
    );
    await this.changeTags(call, { [TAGS]: tagsOf(pairs) });
    response.status(200).end();
  }

  async removeTags(call: ObjectCall, response: Response): Promise<void> {
    await this.changeTags(call, {});
    response.status(204).end();
  }

  private async changeTags(call: ObjectCall, tags: JsonObject): Promise<void> {
    const file = await this.find(call, { bucket: call.bucket, filename: call.key });
    await this.filesById.updateFile(call.caller, file.id, {
      metadata: { ...withoutTags(file.metadata), ...tags },
    });
  }
}

/** Adds the quotes of entity tags, which some clients leave out. */
function requote(header: string | undefined): string | undefined {
  return header === undefined || header === '*' || header.includes('"') ? header : quoted(header);
}

/** @throws AppError 400 for any value other than COPY and REPLACE */
function directive(value: string | undefined): boolean {
  if (value !== undefined && value !== 'COPY' && value !== 'REPLACE')
    throw invalidArgument('A directive must be COPY or REPLACE');
  return value === 'REPLACE';
}

const withoutTags = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== TAGS));
const onlyTags = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => name === TAGS));

const announcedLength = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
