/** Personal access tokens, with which staff work from the command line or from CI, limited by scopes and time. */
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import type { AuditEntry } from '../../install/audit/audit-log.repository';
import type { StaffMember } from '../accounts/staff-member';
import { Scope } from '../roles/route-table';
import { actorOf, StaffCaller, visibleProjects } from '../roles/staff';
import { hashToken, newSecretToken } from '../../identity/secret-token';
import { roleForbids, tokenNotFound, tooManyTokens } from '../staff.errors';
import { projectNotFound } from '../../projects/projects.errors';
import { StaffTokenRepository, TokenRecord } from './staff-token.repository';

/** Distinguishes these tokens from PLATFORM_ADMIN_KEY; scanners use it to find leaked tokens. */
export const TOKEN_PREFIX = 'plt_';
export const MAX_TOKENS = 100;
/** Minimum milliseconds between two updates of the time of the last use. */
const TOUCH_AFTER_MS = 60_000;

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly projectId: string | null;
  readonly lifetimeSeconds: number;
}

@Injectable()
export class StaffTokens {
  constructor(
    private readonly tokens: StaffTokenRepository,
    private readonly clock: Clock,
  ) {}

  /** The sender of a request with that token; null if it is unknown or expired, or its staff member's account is disabled. */
  async find(token: string): Promise<StaffCaller | null> {
    const found = await this.tokens.findByHash(hashToken(token));
    const now = this.clock.now();
    if (!found || found.expiresAt.getTime() <= now) return null;
    const { id, scopes, projectId, expiresAt, lastUsedAt, member, projects } = found;
    if ((lastUsedAt?.getTime() ?? 0) + TOUCH_AFTER_MS <= now) await this.tokens.touch(id, new Date(now));
    return { member, projects, session: null, token: { id, scopes, projectId, expiresAt } };
  }

  async list(member: StaffMember): Promise<TokenRecord[]> {
    return this.tokens.listOf(member.id);
  }

  /**
   * A token cannot create a token with more rights, or a longer lifetime, than its own.
   * @throws AppError 400 if the staff member has MAX_TOKENS, 403 for more rights than its own, 404 for a
   * project that the staff member does not see
   */
  async create(
    staff: StaffCaller,
    member: StaffMember,
    request: TokenRequest,
    address: string,
  ): Promise<{ token: string; record: TokenRecord }> {
    const { name, projectId } = request;
    const scopes = [...new Set(request.scopes)];
    const now = this.clock.now();
    const expiresAt = new Date(now + request.lifetimeSeconds * 1000);
    assertSees(staff, projectId);
    assertNoMore(staff, { scopes, projectId, expiresAt });
    const { token, hash } = newSecretToken(TOKEN_PREFIX);
    const input = { memberId: member.id, hash, name, scopes, projectId, now: new Date(now), expiresAt };
    const record = await this.tokens.insert(input, MAX_TOKENS, (id) => ({
      actor: actorOf(staff, address),
      action: 'token.create',
      projectId,
      details: { token_id: id, name, scopes: [...scopes], expires_at: expiresAt.toISOString() },
    }));
    if (!record) throw tooManyTokens(MAX_TOKENS);
    return { token, record };
  }

  async endAll({ id }: StaffMember): Promise<void> {
    await this.tokens.removeAll(id);
  }

  /**
   * A token may end itself; to end another token, it needs the scope `admin`.
   * @throws AppError 403 without that scope, 404 for an unknown token
   */
  async remove(staff: StaffCaller, member: StaffMember, id: string, address: string): Promise<void> {
    if (staff.token && staff.token.id !== id.toLowerCase() && !staff.token.scopes.includes('admin'))
      throw roleForbids();
    const entry: AuditEntry = {
      actor: actorOf(staff, address),
      action: 'token.delete',
      projectId: null,
      details: { token_id: id },
    };
    if (!UUID.test(id) || !(await this.tokens.remove(member.id, id, entry))) throw tokenNotFound();
  }
}

/** @throws AppError 404 for a project that the staff member does not see */
function assertSees(staff: StaffCaller, projectId: string | null): void {
  const visible = visibleProjects(staff);
  if (projectId !== null && visible !== null && !visible.includes(projectId)) throw projectNotFound();
}

/** @throws AppError 403 for more rights than the sender's token has */
function assertNoMore(
  { token }: StaffCaller,
  wanted: { scopes: readonly Scope[]; projectId: string | null; expiresAt: Date },
): void {
  if (!token) return;
  const isLonger = wanted.expiresAt.getTime() > token.expiresAt.getTime();
  const isWider = wanted.scopes.some((scope) => !token.scopes.includes(scope));
  const isElsewhere = token.projectId !== null && wanted.projectId !== token.projectId;
  if (isLonger || isWider || isElsewhere) throw roleForbids();
}
