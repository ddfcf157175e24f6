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

/** What a project's own claims cannot change: who it is, for how long, and that it is no key. */
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
]);

/** Bytes of JSON: a header of 8 KiB is what servers in between let pass, and what is read of a token. */
const MAX_CUSTOM_CLAIMS = 4_096;

export interface AccessTokenSubject {
  readonly userId: string;
  readonly email: string;
  readonly sessionId: string;
  readonly aal: AssuranceLevel;
  /** What auth.custom_claims() of the project answered. */
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
    const [{ secret, kid }] = project.secrets;
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
    return sign(claims, secret, { algorithm: 'HS256', keyid: kid });
  }
}

function allowedClaims(claims: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(claims)) > MAX_CUSTOM_CLAIMS) {
    throw claimsFailed(new Error(`auth.custom_claims() answered more than ${MAX_CUSTOM_CLAIMS} bytes`));
  }
  const fault = storageFault('auth.custom_claims()', claims);
  if (fault !== null) throw claimsFailed(new Error(fault));
  return Object.fromEntries(Object.entries(claims).filter(([name]) => isAllowed(name)));
}

/** jsonwebtoken looks names up in plain objects and stumbles over what every object has, such as `constructor`. */
function isAllowed(name: string): boolean {
  return !RESERVED_CLAIMS.has(name) && !(name in Object.prototype);
}
