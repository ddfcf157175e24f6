/**
 * Admits staff and PLATFORM_ADMIN_KEY to the administration: identifies the sender by key, personal access
 * token or session cookie, refuses forged requests, and looks up the route in ROUTE_TABLE.
 */
import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Checks } from '../../access/access-rule';
import { invalidCredentials, missingBearer } from '../../access/access.errors';
import { bearerToken } from '../../access/bearer-token';
import { SECRETS_CONFIG, SecretsConfig, SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { equalSecrets } from '../../infra/crypto/constant-time';
import { projectNotFound } from '../../projects/projects.errors';
import type { StaffCaller } from '../roles/staff';
import { SessionCookies } from '../sessions/session-cookies.service';
import { StaffSessions } from '../sessions/staff-session.service';
import {
  csrfFailed,
  foreignOrigin,
  roleForbids,
  sessionRequired,
  staffMemberRequired,
  stepUpRequired,
} from '../staff.errors';
import { StaffTokens, TOKEN_PREFIX } from '../tokens/staff-token.service';
import { decide, type Decision } from '../roles/decide';
import { ROUTE_TABLE } from '../roles/route-table';

/** The sender; the route must use StaffGuard. */
export function staffOf({ staff }: Request): StaffCaller {
  if (!staff) throw new Error('this route lacks StaffGuard');
  return staff;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const BREAK_GLASS: StaffCaller = Object.freeze({ member: null, projects: [], session: null, token: null });

@Injectable()
@Checks('staff')
export class StaffGuard implements CanActivate {
  constructor(
    private readonly sessions: StaffSessions,
    private readonly tokens: StaffTokens,
    private readonly cookies: SessionCookies,
    @Inject(SECRETS_CONFIG) private readonly secrets: SecretsConfig,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    // Answers depend on the sender, and a cookie alone does not keep a cache from storing them (RFC 9111, 3).
    http.getResponse<Response>().setHeader('Cache-Control', 'no-store');
    const header = request.get('authorization');
    // A header that the client added on purpose takes precedence over the cookie that the browser adds.
    const staff = header
      ? await this.byHeader(header)
      : await this.byCookie(request, http.getResponse<Response>());
    assertAllowed(request, staff);
    request.staff = Object.freeze(staff);
    return true;
  }

  private async byHeader(header: string): Promise<StaffCaller> {
    const token = bearerToken(header);
    if (token === null) throw invalidCredentials();
    if (equalSecrets(token, this.secrets.platformAdminKey)) return BREAK_GLASS;
    const staff = token.startsWith(TOKEN_PREFIX) ? await this.tokens.find(token) : null;
    if (!staff) throw invalidCredentials();
    return staff;
  }

  private async byCookie(request: Request, response: Response): Promise<StaffCaller> {
    const token = this.cookies.read(request);
    if (token === null) throw missingBearer();
    const found = await this.sessions.find(token);
    if (!found) throw invalidCredentials();
    const { session, renewed } = found;
    const { id, expiresAt, member, projects } = session;
    if (renewed) this.cookies.write(response, renewed);
    const isForged =
      !SAFE_METHODS.has(request.method) && !this.sessions.isCsrfToken(id, request.get('x-csrf-token'));
    if (isForged) throw csrfFailed();
    return {
      member,
      projects,
      session: { id, expiresAt, isConfirmed: this.sessions.isConfirmed(session) },
      token: null,
    };
  }
}

/** @throws AppError 403 if the sender may not use the route, 404 for a project that the sender may not know of */
function assertAllowed(request: Request, staff: StaffCaller): void {
  const decision = decisionAbout(request, staff);
  if (decision === 'hidden') throw projectNotFound();
  if (decision === 'no') throw roleForbids();
  if (decision === 'unconfirmed') throw stepUpRequired();
}

export function decisionAbout({ method, route, params }: Request, staff: StaffCaller): Decision {
  const { path } = route as { path: string };
  const key = `${method === 'HEAD' ? 'GET' : method} ${path}`;
  const access = ROUTE_TABLE[key];
  // Cannot happen: RouteTableCheck refuses to start with such a route.
  if (!access) return 'no';
  return decide(key, access, staff, typeof params.id === 'string' ? params.id : null);
}

/** Refuses PLATFORM_ADMIN_KEY, which belongs to no staff member. */
@Injectable()
@Checks('staff_member')
export class StaffMemberGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!staffOf(context.switchToHttp().getRequest<Request>()).member) throw staffMemberRequired();
    return true;
  }
}

/** Admits sessions only: a token, which scripts hold, must not change how its staff member signs in. */
@Injectable()
@Checks('staff_session')
export class StaffSessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!staffOf(context.switchToHttp().getRequest<Request>()).session) throw sessionRequired();
    return true;
  }
}

@Injectable()
export class OwnOriginGuard implements CanActivate {
  private readonly origin: string;

  constructor(@Inject(SERVER_CONFIG) { publicUrl }: ServerConfig) {
    this.origin = new URL(publicUrl).origin;
  }

  /** Browsers set these headers themselves, and pages cannot set them; other clients send neither. */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const origin = request.get('origin');
    // The issuer of single sign-on sends browsers back with GET.
    if (request.method !== 'POST') return true;
    if (origin === undefined || origin === this.origin || request.get('sec-fetch-site') === 'same-origin')
      return true;
    // The server may be reachable under a name other than that of PUBLIC_URL.
    if (URL.canParse(origin) && new URL(origin).host === request.get('host')) return true;
    throw foreignOrigin();
  }
}
