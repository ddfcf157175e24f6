/**
 * Signed uploads: the permission to create one file, as a token that its bearer may use. The token is an HMAC over action,
 * project and payload. The upload runs with the role and the id of the signer, so that the policies decide again.
 */
import { Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { parseJson } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { FileAddress } from '../files/named-files.service';
import { assertFilename } from '../files/upload-rules';
import { TargetRepository } from '../files/target.repository';
import type { UploadRestriction } from '../files/upload';
import { forbidden, invalidSignature, signedUrlExpired } from '../storage.errors';
import { contextOf, StorageContext } from '../storage-transaction';
import { hmacOf, isSigned } from './signed-url';

/** Seconds for which a signed upload is valid, as in Supabase. */
const VALIDITY = 7_200;
const FORM = /^([\w-]{1,16384})\.([\w-]{43})$/;

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

@Injectable()
export class SignedUploadsService {
  constructor(
    private readonly targets: TargetRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * A token for an upload that the caller may make.
   * @throws AppError 400 for an invalid name, 403 if a policy refuses, 404 if there is no such bucket
   */
  async sign(
    caller: Caller,
    { bucket, filename }: FileAddress,
    { upsert, restriction }: Pick<UploadClaims, 'upsert' | 'restriction'>,
  ): Promise<string> {
    assertFilename(filename);
    const target = await this.targets.getUploadTarget(caller, bucket, filename);
    if (target.mayUpload !== 'yes') throw forbidden();
    const { project, role, tokenClaims, userId } = caller;
    const { aal } = tokenClaims;
    return signUpload(project, {
      bucket,
      filename,
      upsert,
      restriction,
      role,
      ...(userId === null ? {} : { sub: userId }),
      ...(typeof aal === 'string' ? { aal } : {}),
      expiresAt: this.clock.nowSeconds() + VALIDITY,
    });
  }

  /**
   * The upload runs with the role and the id of the signer, and without its other claims, so that policies decide.
   * @throws AppError 401 for an invalid or expired token
   */
  verify(
    project: Project,
    { bucket, filename }: FileAddress,
    token: unknown,
  ): Pick<UploadClaims, 'upsert' | 'restriction'> & { readonly context: StorageContext } {
    const claims = verifyUpload(project, token, this.clock.now());
    if (claims.bucket !== bucket || claims.filename !== filename) throw invalidSignature();
    const { role, sub, aal, upsert, restriction } = claims;
    const context = { ...contextOf(project, role), claims: JSON.stringify({ role, sub, aal }) };
    return { context, upsert, restriction };
  }
}

/** The token of a signed upload. */
function signUpload(project: Project, claims: UploadClaims): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${payload}.${hmacOf(project, project.secrets[0], 'upload', payload)}`;
}

/** @param now milliseconds since the epoch @throws AppError 401 invalid_signature, or signed_url_expired */
function verifyUpload(project: Project, token: unknown, now: number): UploadClaims {
  const [, payload, signature] = (typeof token === 'string' && FORM.exec(token)) || [];
  if (payload === undefined || signature === undefined) throw invalidSignature();
  if (!isSigned(project, signature, now, (secret) => hmacOf(project, secret, 'upload', payload)))
    throw invalidSignature();
  // The payload was signed, so it is one that signUpload() wrote.
  const claims = parseJson(Buffer.from(payload, 'base64url').toString()) as UploadClaims;
  if (claims.expiresAt <= now / 1000) throw signedUrlExpired();
  return claims;
}
