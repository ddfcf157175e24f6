/** "View as": tokens of five minutes with which a staff member sees a project as anon, a user, any claims or service_role. */
import { Injectable } from '@nestjs/common';
import { ONE_FACTOR } from '../../access/caller';
import { userNotFound } from '../auth.errors';
import { allowedClaims, MAX_CUSTOM_CLAIMS } from '../sessions/access-token.service';
import { SessionTokensRepository } from '../sessions/session-tokens.repository';
import { invalidParameters } from '../../common/errors/app-error';
import type { JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { Project } from '../../projects/project';
import {
  ANON_ROLE,
  AUTHENTICATED_ROLE,
  projectKey,
  SERVICE_ROLE,
  signUserToken,
} from '../../projects/project-keys';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { rolesIn } from '../../staff/roles/decide';
import type { Role } from '../../staff/roles/route-table';
import type { StaffCaller } from '../../staff/roles/staff';

const LIFETIME_SECONDS = 300;
const VIEW_ISSUER = 'plinth-view';
const WRITERS: readonly Role[] = ['owner', 'operator', 'admin', 'developer'];

export const VIEW_IDENTITIES = ['service_role', 'anon', 'user', 'claims'] as const;

export interface ViewRequest {
  readonly as: (typeof VIEW_IDENTITIES)[number];
  readonly user_id?: string | null;
  readonly claims?: JsonObject | null;
}

interface ViewToken {
  readonly access_token: string;
  /** The anon key, which is public: only the access token carries the role. */
  readonly apikey: string;
  readonly expires_at: Date;
  readonly read_only: boolean;
  /** The session gave no recent proof of identity: accounts and providers cannot be changed. */
  readonly unconfirmed: boolean;
}

@Injectable()
export class ViewTokens {
  constructor(
    private readonly projects: ProjectRegistry,
    private readonly sessions: SessionTokensRepository,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 400 for claims that no token can hold, 404 */
  async issue(staff: StaffCaller, projectId: string, request: ViewRequest, actor: Actor): Promise<ViewToken> {
    const project = await this.projects.get(projectId);
    const claims = await this.claimsOf(project, request);
    const read_only = !mayWrite(staff, projectId);
    const unconfirmed = staff.session?.isConfirmed === false;
    const issuedAt = this.clock.nowSeconds();
    const expiresAt = issuedAt + LIFETIME_SECONDS;
    const details = { as: request.as, role: claims.role ?? null, sub: claims.sub ?? null, read_only };
    await this.audit.write({ actor, action: 'project.view', projectId, details });
    const [secret] = project.secrets;
    const whole = {
      ...claims,
      ...(read_only ? { read_only } : {}),
      ...(unconfirmed ? { unconfirmed } : {}),
      iss: VIEW_ISSUER,
      project_id: projectId,
      iat: issuedAt,
      exp: expiresAt,
    };
    return {
      access_token: await signUserToken(project, whole),
      apikey: projectKey(project, secret, ANON_ROLE),
      expires_at: new Date(expiresAt * 1000),
      read_only,
      unconfirmed,
    };
  }

  private async claimsOf(
    project: Project,
    { as, user_id: userId, claims }: ViewRequest,
  ): Promise<JsonObject> {
    if ((as === 'user') !== Boolean(userId))
      throw invalidParameters('user_id is needed with as=user, and with nothing else');
    if ((as === 'claims') !== Boolean(claims))
      throw invalidParameters('claims are needed with as=claims, and with nothing else');
    if (as === 'claims') return chosenClaims(claims ?? {});
    if (as === 'user') return this.userClaims(project, userId ?? '');
    return { role: as === 'service_role' ? SERVICE_ROLE : ANON_ROLE };
  }

  /** As in the user's access tokens, but without a session. */
  private async userClaims(project: Project, userId: string): Promise<JsonObject> {
    const user = UUID.test(userId) ? await this.sessions.findClaims(project, userId) : null;
    if (!user) throw userNotFound();
    return {
      ...allowedClaims(user.custom, project.settings.oauth_server_enabled),
      aud: AUTHENTICATED_ROLE,
      sub: userId.toLowerCase(),
      role: AUTHENTICATED_ROLE,
      email: user.email,
      aal: ONE_FACTOR,
    };
  }
}

/** A personal access token whose scopes allow writing can get a writing view token, if its staff member may write. */
function mayWrite(staff: StaffCaller, projectId: string): boolean {
  const isWriter = rolesIn(staff, projectId).some((role) => WRITERS.includes(role));
  return isWriter && (staff.token === null || staff.token.scopes.includes('write'));
}

/** Leaves out the session, so that a view never changes a session. @throws AppError 400 */
function chosenClaims(claims: JsonObject): JsonObject {
  const fault = storageFault('claims', claims);
  if (fault !== null) throw invalidParameters(fault);
  if (Buffer.byteLength(JSON.stringify(claims)) > MAX_CUSTOM_CLAIMS)
    throw invalidParameters(`claims must not have more than ${MAX_CUSTOM_CLAIMS} bytes`);
  const own = ['sub', 'role', 'aud', 'email', 'aal'].filter((name) => Object.hasOwn(claims, name));
  const wrong = own.find((name) => typeof claims[name] !== 'string');
  if (wrong !== undefined) throw invalidParameters(`claims.${wrong} must be a string`);
  return {
    role: ANON_ROLE,
    ...allowedClaims(claims, false),
    ...Object.fromEntries(own.map((name) => [name, claims[name] ?? null])),
  };
}
