/** Signs uploads, and gives the context in which a signed upload runs. */
import { Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { FileAddress } from '../files/named-files.service';
import { assertFilename } from '../files/upload-rules';
import { TargetRepository } from '../files/target.repository';
import { bucketNotFound, forbidden, invalidSignature } from '../storage.errors';
import { contextOf, StorageContext } from '../storage-transaction';
import { signUpload, type UploadClaims, verifyUpload } from './signed-upload';

/** Seconds for which a signed upload is valid, as in Supabase. */
const VALIDITY = 7_200;

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
    const target = await this.targets.findUploadTarget(caller, bucket, filename);
    if (!target) throw bucketNotFound();
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
