/** The cookie of a session of staff. */
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { STAFF_COOKIE } from '../../http/staff-cookie';
import { CookieJar } from '../../identity/cookie-jar';
import type { CookieToken } from './staff-session.service';

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
