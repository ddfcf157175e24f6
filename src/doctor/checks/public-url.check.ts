/** Checks PUBLIC_URL and its certificate, as the server itself reaches them. The command line repeats the check from its machine. */
import { Inject, Injectable } from '@nestjs/common';
import { causeOf, codeOf, messageOf } from '../../common/errors/error-facts';
import { isJsonObject, parseJson } from '../../common/text/json';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { certificateOf } from '../../infra/outbound/certificate';
import { DoctorCheck, Finding } from '../finding';

const TIMEOUT_MS = 10_000;
const DAY_MS = 86_400_000;
/** Days before the end of a certificate at which it is reported. */
const SOON_DAYS = 14;
/** Bytes of a response that are read; the probe has 17. */
const MAX_RESPONSE = 1_000;

@Injectable()
export class PublicUrlCheck extends DoctorCheck {
  readonly name = 'public_url';

  constructor(@Inject(APP_CONFIG) private readonly config: AppConfig) {
    super();
  }

  async find(): Promise<Finding[]> {
    const url = new URL(this.config.server.publicUrl);
    return [await this.findReachable(url), ...(await this.findTls(url))];
  }

  private async findReachable(url: URL): Promise<Finding> {
    const probe = `${url.href.replace(/\/+$/, '')}/health/live`;
    try {
      const response = await fetch(probe, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
      const body = parseJson((await response.text()).slice(0, MAX_RESPONSE));
      if (response.status === 200 && isJsonObject(body) && body.status === 'live') {
        return this.ok(`${url.href} leads to Plinth, as seen from the server`);
      }
      return this.failed(
        `${probe} answers ${response.status}, but not as Plinth does`,
        'Set PUBLIC_URL to the URL that clients use, and let the proxy pass all paths on unchanged.',
      );
    } catch (error) {
      const cause = causeOf(error) ?? error;
      return this.warning(
        `${url.href} cannot be reached from the server: ${messageOf(cause) || (codeOf(cause) ?? 'no answer')}`,
        'Check PUBLIC_URL, DNS, the proxy and the firewall. Networks without hairpin NAT refuse only the server itself.',
      );
    }
  }

  private async findTls(url: URL): Promise<Finding[]> {
    if (url.protocol === 'http:') {
      if (/^(localhost|127\.|\[::1\])/.test(url.hostname)) return [];
      return [
        this.tls(
          'warning',
          `PUBLIC_URL has no TLS: passwords and tokens can be read on the way`,
          'Put a proxy with a certificate in front of Plinth, and set PUBLIC_URL to https://.',
        ),
      ];
    }
    try {
      const { valid_to: end } = await certificateOf(url, true);
      const days = daysUntil(end);
      const text = `the certificate of ${url.host} ends in ${days} days (${end})`;
      return days < SOON_DAYS
        ? [this.tls('warning', text, 'Renew it, and check the automatic renewal.')]
        : [this.tls('ok', text, null)];
    } catch (error) {
      return [await this.refused(url, error)];
    }
  }

  /** A certificate that has ended is named as such, even if its issuer is not trusted either. */
  private async refused(url: URL, error: unknown): Promise<Finding> {
    const { valid_to: end } = await certificateOf(url, false).catch(() => ({ valid_to: '' }));
    const days = daysUntil(end);
    if (days < 0) {
      const text = `the certificate of ${url.host} ended ${-days} days ago (${end})`;
      return this.tls('failed', text, 'Renew it, and check the automatic renewal.');
    }
    return this.tls(
      'failed',
      `the certificate of ${url.host} cannot be verified: ${messageOf(error)}`,
      'Install a valid certificate with its chain, or add the CA by NODE_EXTRA_CA_CERTS.',
    );
  }

  private tls(status: Finding['status'], message: string, remedy: string | null): Finding {
    return { check: 'tls', status, message, remedy };
  }
}

/** Whole days; negative: in the past. NaN without a date. */
const daysUntil = (end: string): number => Math.floor((Date.parse(end) - Date.now()) / DAY_MS);
