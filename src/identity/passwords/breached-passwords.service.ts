/**
 * Looks up passwords in known breaches with the range API of Have I Been Pwned. The server learns only five
 * hexadecimal digits of the hash. If it fails, the password is accepted: otherwise nobody could sign up.
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { messageOf } from '../../common/errors/error-facts';
import { AUTH_CONFIG, type AuthConfig } from '../../config/app-config';
import { OutboundHttp } from '../../infra/outbound/outbound-http';

const LIMITS = { timeoutMs: 2_000, maxBytes: 512 * 1024 };
/** Number of hexadecimal digits of the hash that are sent. */
const PREFIX = 5;

@Injectable()
export class BreachedPasswords {
  private readonly logger = new Logger(BreachedPasswords.name);
  private readonly http: OutboundHttp;
  private readonly base: string;

  constructor(@Inject(AUTH_CONFIG) { breachedPasswordsUrl }: AuthConfig) {
    this.base = breachedPasswordsUrl.replace(/\/*$/, '/');
    // The operator chose this host, so it may have a private address.
    this.http = new OutboundHttp([new URL(this.base).host]);
  }

  async includes(password: string): Promise<boolean> {
    // The API lists SHA-1 hashes; nothing depends on their strength.
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      const url = `${this.base}${hash.slice(0, PREFIX)}`;
      const answer = await this.http.send(url, { headers: { 'add-padding': 'true' } }, LIMITS);
      if (!answer.ok) throw new Error(`it answers ${answer.status}`);
      const found = new RegExp(`^${hash.slice(PREFIX)}:(\\d+)\\s*$`, 'im').exec(await answer.text());
      // Padding entries have the count 0.
      return Number(found?.[1] ?? 0) > 0;
    } catch (error) {
      this.logger.warn(`A password was not checked against known breaches: ${messageOf(error)}`);
      return false;
    }
  }
}
