/**
 * Sign-ins of staff in several steps: single sign-on, and passkeys. A short-lived cookie binds the steps to one browser. Its
 * content is encrypted, so beginning a sign-in stores nothing. Each sign-in can be completed once.
 */
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig, SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { CookieJar } from '../../identity/cookie-jar';
import { flowOver } from '../../identity/identity.errors';
import { SecretBox } from '../../infra/crypto/secret-box';
import { STAFF_COOKIE } from '../../http/staff-cookie';
import { StaffSessionRepository } from './staff-session.repository';

/** Milliseconds within which all steps must be completed. */
const LIFETIME_MS = 10 * 60_000;

/** The cookie of one kind is refused by the others. */
type Kind = 'oidc' | 'saml' | 'oidc-factor' | 'passkey' | 'passkey-enrolment';

/** A flow that a request continues. */
export interface Flow<Content> {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly content: Content;
}

const purposeOf = (kind: Kind): string => `staff-flow:${kind}`;

@Injectable()
export class StaffFlows {
  private readonly box: SecretBox;
  private readonly jar: CookieJar;

  constructor(
    private readonly sessions: StaffSessionRepository,
    private readonly clock: Clock,
    @Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    this.box = new SecretBox(masterKey, otherMasterKey);
    // Lax, because the issuer sends the browser back from another site.
    this.jar = new CookieJar(`${STAFF_COOKIE}_flow`, 'Lax', publicUrl);
  }

  begin(response: Response, kind: Kind, content: object): void {
    const flow: Flow<object> = { id: randomUUID(), until: this.clock.now() + LIFETIME_MS, content };
    this.jar.set(response, this.box.sealToken(flow, purposeOf(kind)), LIFETIME_MS / 1000);
  }

  /** @throws AppError 401 if the request belongs to no flow of this kind, or to one that is too old */
  continue<Content>(request: Request, kind: Kind): Flow<Content> {
    // Null for a cookie that another installation sealed, or that is for another kind of flow.
    const flow = this.box.openToken<Flow<Content>>(this.jar.read(request) ?? '', purposeOf(kind));
    if (!flow || flow.until <= this.clock.now()) throw flowOver();
    return flow;
  }

  /** Call it after everything has been verified. @throws AppError 401 if the flow was completed before */
  async complete({ id, until }: Flow<unknown>, response: Response): Promise<void> {
    this.clear(response);
    if (!(await this.sessions.completeFlow(id, new Date(until), this.clock.date()))) throw flowOver();
  }

  clear(response: Response): void {
    this.jar.set(response, '', 0);
  }
}
