/**
 * The S3 protocol at the root of S3_PORT and of S3_HOST: paths are those below `/p/<slug>/storage/v1/s3` of the project that the access
 * key names. Only its id is read here; the guard verifies the signature, which is one of the address as the client sent it.
 */
import type { Request } from 'express';
import { contextOf } from '../http/request-context';
import type { ProjectRegistry } from '../projects/project-registry.service';
import { projectIdOf } from '../projects/s3-keys';
import { accessKeyIdOf, encode } from '../storage/http/s3/signature';

/** @param name S3_HOST @returns the bucket in front of it, or an empty text; null for requests of other areas */
export function s3BucketOf(request: Request, name: string | null): string | null {
  const host = request.headers.host?.replace(/:\d+$/, '').toLowerCase() ?? '';
  if (name !== null && host.endsWith(`.${name}`)) return host.slice(0, -name.length - 1);
  return host === name || request.context?.isOfS3 === true ? '' : null;
}

/** Adds project and bucket to the path. A key of no project gets a path of no project, whose guard refuses it. */
export async function addS3Project(
  request: Request,
  bucket: string,
  registry: ProjectRegistry,
): Promise<void> {
  const keyId = accessKeyIdOf(request);
  const id = projectIdOf(keyId);
  const project = id === null ? await registry.findBySlug(keyId) : await registry.findById(id);
  contextOf(request).signedUrl = request.originalUrl;
  const path = request.url.startsWith('/') ? request.url : `/${request.url}`;
  request.url = `/p/${project?.slug ?? '-'}/storage/v1/s3${bucket === '' ? '' : `/${encode(bucket)}`}${path}`;
  request.originalUrl = request.url;
}
