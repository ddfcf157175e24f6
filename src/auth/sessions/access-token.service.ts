/** Signs access tokens. They are verified in src/access. */
import { Inject, Injectable } from '@nestjs/common';
import { AssuranceLevel } from '../../access/caller';
import { JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { Account } from '../accounts/account';
import { claimsFailed } from './custom-claims';
import { MethodReference } from './session';
import { issuerOf } from '../../projects/issuer';
import { AUTHENTICATED_ROLE, signUserToken } from '../../projects/project-keys';
import { Project } from '../../projects/project';

/** Claims that a project cannot set: they identify the user, limit the lifetime, and tell a token from a key. */
const RESERVED_CLAIMS = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'role',
  'email',
  'session_id',
  'aal',
  'amr',
  'is_anonymous',
  'project_id',
  'ref',
  'read_only',
]);

/** Bytes of JSON. Proxies accept headers of 8 KiB, and so does Plinth. */
export const MAX_CUSTOM_CLAIMS = 4_096;

/** Bytes of JSON. A token has 4 characters for 3 bytes, and PostgreSQL reads the claims on every request. */
const MAX_CLAIMS = 2_048;

interface AccessTokenSubject {
  readonly account: Pick<Account, 'id' | 'email' | 'phone' | 'data' | 'appData' | 'isAnonymous'>;
  readonly sessionId: string;
  readonly aal: AssuranceLevel;
  readonly amr: readonly MethodReference[];
  /** The result of the project's auth.custom_claims(). */
  readonly customClaims: JsonObject;
  readonly clientId: string | null;
}

@Injectable()
export class AccessTokenService {
  constructor(@Inject(SERVER_CONFIG) private readonly server: ServerConfig) {}

  /**
   * @param issuedAt Unix seconds
   * @param expiresAt Unix seconds
   */
  async issue(
    project: Project,
    subject: AccessTokenSubject,
    issuedAt: number,
    expiresAt: number,
  ): Promise<string> {
    const { account } = subject;
    const own = {
      phone: account.phone ?? '',
      app_metadata: appMetadata(account),
      ...allowedClaims(subject.customClaims, project.settings.oauth_server_enabled),
      iss: issuerOf(this.server.publicUrl, project),
      aud: AUTHENTICATED_ROLE,
      sub: account.id,
      role: AUTHENTICATED_ROLE,
      email: account.email,
      session_id: subject.sessionId,
      aal: subject.aal,
      amr: subject.amr,
      is_anonymous: account.isAnonymous,
      iat: issuedAt,
      exp: expiresAt,
      ...(subject.clientId === null ? {} : { client_id: subject.clientId }),
    };
    const whole = { user_metadata: account.data, ...own };
    const claims = isShort(whole) ? whole : own;
    return signUserToken(project, claims);
  }
}

/** Requests with deeply nested claims are refused, so such data is left out too. */
function isShort(claims: { user_metadata: JsonObject }): boolean {
  return (
    Buffer.byteLength(JSON.stringify(claims)) <= MAX_CLAIMS &&
    storageFault('user_metadata', claims.user_metadata) === null
  );
}

/** `app_metadata` as clients of Supabase know it. */
export function appMetadata({
  appData,
  email,
  isAnonymous,
  phone,
}: Pick<Account, 'appData' | 'email' | 'isAnonymous' | 'phone'>): JsonObject {
  const providers = [...(email === '' ? [] : ['email']), ...(phone === null ? [] : ['phone'])];
  return { ...(isAnonymous ? {} : { provider: providers[0], providers }), ...appData };
}

/** Without the reserved ones. @param hasApplications `client_id` is that of an application, whose rights policies may limit by it @throws AppError 500 for claims that no token can hold */
export function allowedClaims(claims: JsonObject, hasApplications: boolean): JsonObject {
  if (Buffer.byteLength(JSON.stringify(claims)) > MAX_CUSTOM_CLAIMS) {
    throw claimsFailed(new Error(`auth.custom_claims() returned more than ${MAX_CUSTOM_CLAIMS} bytes`));
  }
  const fault = storageFault('auth.custom_claims()', claims);
  if (fault !== null) throw claimsFailed(new Error(fault));
  return Object.fromEntries(
    Object.entries(claims).filter(([name]) => isAllowed(name) && !(hasApplications && name === 'client_id')),
  );
}

/** jsonwebtoken looks claims up in plain objects and fails for names that every object has, such as `constructor`. */
function isAllowed(name: string): boolean {
  return !RESERVED_CLAIMS.has(name) && !(name in Object.prototype);
}
