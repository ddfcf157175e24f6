/** The client of the issuer that STAFF_OIDC_ISSUER names. */
import { Inject, Injectable } from '@nestjs/common';
import { SERVER_CONFIG, ServerConfig, STAFF_CONFIG, StaffConfig } from '../../config/app-config';
import { IssuedIdentity, toIssuedIdentity } from '../../identity/oidc/issued-identity';
import { OidcChecks, OidcClient } from '../../identity/oidc/oidc-client';
import { oidcUnused } from '../staff.errors';

/** Callback at Plinth; the client is registered with it at the issuer. */
const CALLBACK_PATH = '/admin/v1/session/oidc/callback';

@Injectable()
export class StaffOidcClient {
  private readonly client: OidcClient | null;
  private readonly groupsClaim: string;
  /** Host of the issuer, for the sign-in page; null without single sign-on. */
  readonly issuerHost: string | null;

  constructor(
    @Inject(STAFF_CONFIG) { oidc }: StaffConfig,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    this.client = oidc && new OidcClient({ ...oidc, redirectUri: publicUrl + CALLBACK_PATH });
    this.groupsClaim = oidc?.groupsClaim ?? '';
    this.issuerHost = oidc && new URL(oidc.issuer).host;
  }

  /** @throws AppError 404 without single sign-on, 503 */
  async begin(): Promise<{ url: string; checks: OidcChecks }> {
    return this.required().begin();
  }

  /** @param query of the callback's URL, with `?` @throws AppError 401, 404, 503 */
  async finish(query: string, checks: OidcChecks): Promise<IssuedIdentity> {
    const claims = await this.required().finish(query, checks, ['email', this.groupsClaim]);
    return toIssuedIdentity(claims, this.groupsClaim);
  }

  private required(): OidcClient {
    if (!this.client) throw oidcUnused();
    return this.client;
  }
}
