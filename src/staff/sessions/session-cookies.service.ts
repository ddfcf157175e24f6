/** Writes and reads the session cookie of this installation. */
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { STAFF_COOKIE } from '../../http/staff-cookie';
import type { CookieToken } from './staff-session.service';

/** The prefix binds the cookie to this host and to https: neither a subdomain nor plain HTTP can set one. */
const SECURE_PREFIX = '__Host-';

@Injectable()
export class SessionCookies {
  private readonly name: string;
  private readonly attributes: string;

  constructor(
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    const isSecure = publicUrl.startsWith('https:');
    this.name = (isSecure ? SECURE_PREFIX : '') + STAFF_COOKIE;
    this.attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** The token in the cookie; null if the request has none, or several. */
  read({ headers }: Request): string | null {
    const values = (headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${this.name}=`));
    // Another application on this host could add one of its own; browsers choose the order of the two.
    return values.length === 1 ? (values[0]?.slice(this.name.length + 1) ?? null) : null;
  }

  write(response: Response, { token, expiresAt }: CookieToken): void {
    this.set(response, token, Math.ceil((expiresAt.getTime() - this.clock.now()) / 1000));
  }

  /** Removes the cookie from the browser. */
  clear(response: Response): void {
    this.set(response, '', 0);
  }

  private set(response: Response, value: string, maxAgeSeconds: number): void {
    response.setHeader('Set-Cookie', `${this.name}=${value}; Max-Age=${maxAgeSeconds}; ${this.attributes}`);
    response.setHeader('Cache-Control', 'no-store');
  }
}
