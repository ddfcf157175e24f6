/**
 * Checks the signature, the rights of the key, and the rate limit of the plan. A key has the rights of the service-role
 * key, or of a user; with a session token, which is a user's access token, the policies decide for that user.
 */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { Checks } from '../../../access/access-rule';
import { readOnlyCredentials } from '../../../access/access.errors';
import { AdmissionGuard } from '../../../access/admission.guard';
import type { Caller } from '../../../access/caller';
import { SocketCredentials } from '../../../access/socket-credentials.service';
import { AppError } from '../../../common/errors/app-error';
import type { JsonObject } from '../../../common/text/json';
import { Clock } from '../../../common/time/clock';
import { RlsTransaction } from '../../../database/rls/rls-transaction';
import { contextOf } from '../../../http/request-context';
import { StorageRateLimiter } from '../../../limits/storage-rate-limiter';
import type { Project } from '../../../projects/project';
import { ANON_ROLE, AUTHENTICATED_ROLE, projectKey, SERVICE_ROLE } from '../../../projects/project-keys';
import { KeyUses } from '../../../projects/key-uses.repository';
import { ProjectRegistry } from '../../../projects/project-registry.service';
import { isKeyValid } from '../../../projects/project-key-lists.service';
import { projectIdOf, type S3Key } from '../../../projects/s3-keys';
import { countRequest } from '../rate-headers';
import { addressOf, assertReachable } from './s3-call';
import { accessDenied, invalidToken, unknownKey } from './s3.errors';
import { type ChunkSigner, queryOf, type Signature, signatureOf, verifySignature } from './signature';

const READING = new Set(['GET', 'HEAD']);
const REASON = 'auth.users is closed to the roles of callers';

/** A key. Or the project's slug with the anon key as its secret; such a request needs a session token. */
interface Credential {
  readonly project: Project;
  readonly secrets: readonly string[];
  readonly key: S3Key | null;
}

@Injectable()
@Checks('s3_key')
export class S3Guard implements CanActivate {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly admission: AdmissionGuard,
    private readonly tokens: SocketCredentials,
    private readonly limiter: StorageRateLimiter,
    private readonly rls: RlsTransaction,
    private readonly uses: KeyUses,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('x-amz-request-id', contextOf(request).id ?? randomUUID());
    const url = contextOf(request).signedUrl ?? request.originalUrl;
    const query = queryOf(url);
    const given = signatureOf(request, query, this.clock.now());
    const credential = await this.find(given.accessKeyId);
    const { project, key } = credential;
    if (request.params.project_slug !== project.slug) throw unknownKey();
    const signer = verifyWithAny(request, { url, query }, given, credential.secrets);
    request.apiKey = { project, role: key ? SERVICE_ROLE : ANON_ROLE, claims: {} };
    this.admission.canActivate(context);
    const caller = await this.callerOf(credential, given.sessionToken);
    request.caller = caller;
    if (key) this.uses.note(project.id, key.id);
    await countRequest(this.limiter, project, response);
    if (caller.readOnly && !READING.has(request.method)) throw readOnlyCredentials();
    const only = key?.bucket ?? null;
    const address = addressOf(request.url);
    assertReachable(only, address.bucket);
    request.s3Call = {
      caller,
      request,
      query: new Map(query),
      payload: given.payload,
      signer,
      only,
      ...address,
    };
    return true;
  }

  /** @throws AppError 403 for an unknown key */
  private async find(accessKeyId: string): Promise<Credential> {
    const id = projectIdOf(accessKeyId);
    const owner = id === null ? null : await this.registry.findById(id);
    const key = owner?.s3Keys.find((one) => one.id === accessKeyId);
    if (owner && key && isKeyValid(key, this.clock.now()))
      return { project: owner, secrets: [key.secret], key };
    const project = await this.registry.findBySlug(accessKeyId);
    if (!project) throw unknownKey();
    const isValid = ({ expiresAt }: Project['secrets'][number]): boolean =>
      (expiresAt ?? Infinity) > this.clock.now();
    const secrets = project.secrets.filter(isValid).map((secret) => projectKey(project, secret, ANON_ROLE));
    return { project, secrets, key: null };
  }

  /** @throws AppError 400 for an invalid session token, 403 if the key or the user is not valid */
  private async callerOf({ project, key }: Credential, token: string | null): Promise<Caller> {
    if (token !== null) {
      const apiKey = { project, role: ANON_ROLE, claims: {} } as const;
      const caller = await this.tokens.callerOf(apiKey, token).catch((error: unknown) => {
        throw error instanceof AppError && error.status === 401 ? invalidToken() : error;
      });
      return key?.read_only === true ? Object.freeze({ ...caller, readOnly: true }) : caller;
    }
    if (!key) throw accessDenied('The anon key needs the access token of a user as session token');
    if (key.user_id !== null) await this.assertUser(project, key.user_id);
    const tokenClaims: JsonObject =
      key.user_id === null ? { role: SERVICE_ROLE } : { role: AUTHENTICATED_ROLE, sub: key.user_id };
    return Object.freeze({
      project,
      database: project.database,
      role: key.user_id === null ? SERVICE_ROLE : AUTHENTICATED_ROLE,
      claims: JSON.stringify(tokenClaims),
      tokenClaims,
      userId: key.user_id,
      sessionId: null,
      readOnly: key.read_only,
    });
  }

  /** @throws AppError 403 for a user who was deleted or banned */
  private async assertUser(project: Project, userId: string): Promise<void> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'storage:s3-user',
      text: 'select from auth.users where id = $1 and (banned_until is null or banned_until <= $2)',
      values: [userId, this.clock.date()],
    });
    if (rows.length === 0) throw accessDenied('The user of the key was deleted or banned');
  }
}

/** Verifies with each form of the anon key: during a rotation it has two. @throws AppError 403 if no form matches */
function verifyWithAny(
  request: Request,
  address: Parameters<typeof verifySignature>[1],
  given: Signature,
  [secret, ...others]: readonly string[],
): ChunkSigner {
  if (secret === undefined) throw unknownKey();
  try {
    return verifySignature(request, address, given, secret);
  } catch (error) {
    if (others.length === 0) throw error;
    return verifyWithAny(request, address, given, others);
  }
}
