/**
 * Signed uploads: the permission to create one file, as a token that its bearer may use. The token is an HMAC over action,
 * project and payload. The upload runs with the role and the id of the signer, so that the policies decide again.
 */
import { parseJson } from '../../common/text/json';
import { Project } from '../../projects/project';
import type { UploadRestriction } from '../files/upload';
import { hmacOf, isSigned } from './signed-url';
import { invalidSignature, signedUrlExpired } from '../storage.errors';

export interface UploadClaims {
  /** Slug or name. */
  readonly bucket: string;
  readonly filename: string;
  readonly upsert: boolean;
  readonly restriction?: UploadRestriction;
  /** The signer's role in the database. */
  readonly role: string;
  /** The signer's claims `sub` and `aal`. */
  readonly sub?: string;
  readonly aal?: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

const FORM = /^([\w-]{1,16384})\.([\w-]{43})$/;

/** The token of a signed upload. */
export function signUpload(project: Project, claims: UploadClaims): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${payload}.${hmacOf(project, project.secrets[0], 'upload', payload)}`;
}

/** @param now milliseconds since the epoch @throws AppError 401 invalid_signature, or signed_url_expired */
export function verifyUpload(project: Project, token: unknown, now: number): UploadClaims {
  const [, payload, signature] = (typeof token === 'string' && FORM.exec(token)) || [];
  if (payload === undefined || signature === undefined) throw invalidSignature();
  if (!isSigned(project, signature, now, (secret) => hmacOf(project, secret, 'upload', payload)))
    throw invalidSignature();
  // The payload was signed, so it is one that signUpload() wrote.
  const claims = parseJson(Buffer.from(payload, 'base64url').toString()) as UploadClaims;
  if (claims.expiresAt <= now / 1000) throw signedUrlExpired();
  return claims;
}
