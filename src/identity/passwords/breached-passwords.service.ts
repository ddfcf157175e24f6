/**
 * Looks up passwords in known breaches: in a file, or with the range API of Have I Been Pwned, whose server learns only five
 * hexadecimal digits of the hash. If that fails, the password is accepted: otherwise nobody could sign up.
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../common/errors/error-facts';
import { AUTH_CONFIG, type AuthConfig } from '../../config/app-config';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import { isInList } from './breached-hashes';

const LIMITS = { timeoutMs: 2_000, maxBytes: 512 * 1024 };
/** Number of hexadecimal digits of the hash that are sent. */
const PREFIX = 5;

@Injectable()
export class BreachedPasswords {
  private readonly logger = new Logger(BreachedPasswords.name);
  private readonly http: OutboundHttp;
  private readonly address: URL;

  constructor(@Inject(AUTH_CONFIG) { breachedPasswordsUrl }: AuthConfig) {
    this.address = new URL(breachedPasswordsUrl);
    // The operator chose this host, so it may have a private address.
    this.http = new OutboundHttp([this.address.host]);
  }

  async includes(password: string): Promise<boolean> {
    // The API lists SHA-1 hashes; nothing depends on their strength.
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      if (this.address.protocol === 'file:') return await isInList(fileURLToPath(this.address), hash);
      return await this.isInRange(hash);
    } catch (error) {
      this.logger.warn(`A password was not checked against known breaches: ${messageOf(error)}`);
      return false;
    }
  }

  private async isInRange(hash: string): Promise<boolean> {
    const url = `${this.address.href.replace(/\/*$/, '/')}${hash.slice(0, PREFIX)}`;
    const answer = await this.http.send(url, { headers: { 'add-padding': 'true' } }, LIMITS);
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
    const found = new RegExp(`^${hash.slice(PREFIX)}:(\\d+)\\s*$`, 'im').exec(await answer.text());
    // Padding entries have the count 0.
    return Number(found?.[1] ?? 0) > 0;
  }
}
