/** Signs access tokens. They are verified in src/access. */
import { Inject, Injectable } from '@nestjs/common';
import { sign } from 'jsonwebtoken';
import { AssuranceLevel } from '../../access/caller';
import { JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { claimsFailed } from './custom-claims';
import { AUTHENTICATED_ROLE } from '../../projects/project-keys';
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
  'project_id',
  'ref',
  'read_only',
]);

/** Bytes of JSON. Proxies accept headers of 8 KiB, and so does Plinth. */
export const MAX_CUSTOM_CLAIMS = 4_096;

interface AccessTokenSubject {
  readonly userId: string;
  readonly email: string;
  readonly sessionId: string;
  readonly aal: AssuranceLevel;
  /** The result of the project's auth.custom_claims(). */
  readonly customClaims: JsonObject;
}

@Injectable()
export class AccessTokenService {
  constructor(@Inject(SERVER_CONFIG) private readonly server: ServerConfig) {}

  /**
   * @param issuedAt Unix seconds
   * @param expiresAt Unix seconds
   */
  issue(project: Project, subject: AccessTokenSubject, issuedAt: number, expiresAt: number): string {
    const [{ key, kid }] = project.secrets;
    const claims = {
      ...allowedClaims(subject.customClaims),
      iss: `${this.server.publicUrl}/v1/auth/${project.id}`,
      aud: AUTHENTICATED_ROLE,
      sub: subject.userId,
      role: AUTHENTICATED_ROLE,
      email: subject.email,
      session_id: subject.sessionId,
      aal: subject.aal,
      iat: issuedAt,
      exp: expiresAt,
    };
    return sign(claims, key, { algorithm: 'HS256', keyid: kid });
  }
}

/** Without the reserved ones. @throws AppError 500 for claims that no token can hold */
export function allowedClaims(claims: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(claims)) > MAX_CUSTOM_CLAIMS) {
    throw claimsFailed(new Error(`auth.custom_claims() returned more than ${MAX_CUSTOM_CLAIMS} bytes`));
  }
  const fault = storageFault('auth.custom_claims()', claims);
  if (fault !== null) throw claimsFailed(new Error(fault));
  return Object.fromEntries(Object.entries(claims).filter(([name]) => isAllowed(name)));
}

/** jsonwebtoken looks claims up in plain objects and fails for names that every object has, such as `constructor`. */
function isAllowed(name: string): boolean {
  return !RESERVED_CLAIMS.has(name) && !(name in Object.prototype);
}
