/** The cookies of staff: for the session, and for sign-ins of several steps. */
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig, SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { STAFF_COOKIE } from '../../http/staff-cookie';
import { CookieJar } from '../../identity/cookie-jar';
import { SignInFlows } from '../../identity/sign-in-flows';
import { SecretBox } from '../../infra/crypto/secret-box';
import type { CookieToken } from './staff-session.service';
import { UsedFlowRepository } from './used-flow.repository';

@Injectable()
export class SessionCookies {
  private readonly jar: CookieJar;

  constructor(
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    this.jar = new CookieJar(STAFF_COOKIE, 'Strict', publicUrl);
  }

  /** The token in the cookie; null if the request has no such cookie, or several. */
  read(request: Request): string | null {
    return this.jar.read(request);
  }

  write(response: Response, { token, expiresAt }: CookieToken): void {
    this.jar.set(response, token, Math.ceil((expiresAt.getTime() - this.clock.now()) / 1000));
  }

  /** Removes the cookie from the browser. */
  clear(response: Response): void {
    this.jar.set(response, '', 0);
  }
}

@Injectable()
export class StaffFlows extends SignInFlows<
  'oidc' | 'saml' | 'oidc-factor' | 'passkey' | 'passkey-enrolment'
> {
  constructor(
    used: UsedFlowRepository,
    clock: Clock,
    @Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    // Lax, because the issuer sends the browser back from another site.
    const jar = new CookieJar(`${STAFF_COOKIE}_flow`, 'Lax', publicUrl);
    super('staff-flow', new SecretBox(masterKey, otherMasterKey), jar, used, clock);
  }
}
