/**
 * The paths of Supabase's clients without a project: `/auth/v1/...`, `/storage/v1/...` and `/realtime/v1/...` map to
 * `/p/<slug>/...` of the project that the apikey names. Only the name is read here; the guards verify the key,
 * and that it is one of that project.
 */
import type { Request } from 'express';
import { invalidCredentials, missingApiKey } from '../access/access.errors';
import { bearerToken } from '../access/bearer-token';
import { readToken } from '../access/token-form';
import { readApiKey } from '../projects/api-keys';
import type { ProjectRegistry } from '../projects/project-registry.service';
import { contextOf } from '../http/request-context';
import { projectIdOf } from '../projects/s3-keys';
import { accessKeyIdOf, encode } from '../storage/http/s3/signature';

/**
 * @param name S3_HOST @returns the bucket whose name precedes it in the request's host, or an empty string without a bucket; null
 * for other hosts
 */
export function s3BucketOf(request: Request, name: string | null): string | null {
  const host = request.headers.host?.replace(/:\d+$/, '').toLowerCase() ?? '';
  if (name !== null && host.endsWith(`.${name}`)) return host.slice(0, -name.length - 1);
  return host === name || request.context?.isOfS3 === true ? '' : null;
}

/** Adds project and bucket to the path. A key without a project gets a path without a project, which the guard refuses. */
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

const ISSUER_LAST =
  /^\/\.well-known\/(oauth-authorization-server|openid-configuration)(\/p\/[^/?]+\/auth\/v1)(?=\?|$)/;

/** Clients of OAuth put the well-known name before the path of the issuer (RFC 8414, 3.1). */
export const withIssuerFirst = (url: string): string => url.replace(ISSUER_LAST, '$2/.well-known/$1');

const WITHOUT_PROJECT = /^\/(auth|storage|realtime)\/v1(?=\/|\?|$)/;

/** False for all other paths, which are not changed. */
export const lacksProject = ({ url }: Request): boolean => WITHOUT_PROJECT.test(url);

/** Adds the project to the path. @throws AppError 401 */
export async function addProject(request: Request, registry: ProjectRegistry): Promise<void> {
  const token = request.get('apikey') ?? bearerToken(request.get('authorization'));
  if (!token) throw missingApiKey();
  const id = readApiKey(token)?.projectId ?? readToken(token)?.claims.project_id;
  const project = typeof id === 'string' ? await registry.findById(id) : null;
  if (!project) throw invalidCredentials();
  request.url = `/p/${project.slug}${request.url}`;
}
