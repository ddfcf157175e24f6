/**
 * Passwords that were found in breaches, by the range API of Have I Been Pwned: the server learns five hexadecimal digits of the hash. A
 * server that fails admits the password: nobody could sign up otherwise.
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { messageOf } from '../../common/errors/error-facts';
import { AUTH_CONFIG, type AuthConfig } from '../../config/app-config';
import { OutboundHttp } from '../../infra/outbound/outbound-http';

const LIMITS = { timeoutMs: 2_000, maxBytes: 512 * 1024 };
/** Of the hash that are sent. */
const PREFIX = 5;

@Injectable()
export class BreachedPasswords {
  private readonly logger = new Logger(BreachedPasswords.name);
  private readonly http: OutboundHttp;
  private readonly base: string;

  constructor(@Inject(AUTH_CONFIG) { breachedPasswordsUrl }: AuthConfig) {
    this.base = breachedPasswordsUrl.replace(/\/*$/, '/');
    // The operator chose this host.
    this.http = new OutboundHttp([new URL(this.base).host]);
  }

  async includes(password: string): Promise<boolean> {
    // The format of the list; nothing is protected by it.
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      const url = `${this.base}${hash.slice(0, PREFIX)}`;
      const answer = await this.http.send(url, { headers: { 'add-padding': 'true' } }, LIMITS);
      if (!answer.ok) throw new Error(`it answers ${answer.status}`);
      const found = new RegExp(`^${hash.slice(PREFIX)}:(\\d+)\\s*$`, 'im').exec(await answer.text());
      // Entries of padding have the count 0.
      return Number(found?.[1] ?? 0) > 0;
    } catch (error) {
      this.logger.warn(`A password was not compared with the breached ones: ${messageOf(error)}`);
      return false;
    }
  }
}
