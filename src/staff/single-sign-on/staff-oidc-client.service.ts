/** The client of the issuer that STAFF_SIGN_IN names. */
import { Inject, Injectable } from '@nestjs/common';
import { SERVER_CONFIG, ServerConfig, STAFF_CONFIG, StaffConfig } from '../../config/app-config';
import { toIssuedIdentity } from '../../identity/oidc/issued-identity';
import { OidcChecks, OidcClient } from '../../identity/oidc/oidc-client';
import { wayUnused } from '../staff.errors';
import type { GroupMapping } from './granted-roles';
import type { ProvedIdentity } from './identity-accounts.service';

/** The callback address of Plinth, with which the client is registered at the issuer. */
const CALLBACK_PATH = '/admin/v1/session/oidc/callback';

@Injectable()
export class StaffOidcClient {
  private readonly client: OidcClient | null;
  private readonly groupsClaim: string;
  private readonly roles: GroupMapping;
  /** Host of the issuer, for the sign-in page; null without single sign-on. */
  readonly issuerHost: string | null;

  constructor(
    @Inject(STAFF_CONFIG) { oidc }: StaffConfig,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    this.client = oidc && new OidcClient({ ...oidc, redirectUri: publicUrl + CALLBACK_PATH });
    this.groupsClaim = oidc?.groupsClaim ?? '';
    this.roles = oidc?.roles ?? {};
    this.issuerHost = oidc && new URL(oidc.issuer).host;
  }

  /** @throws AppError 404 without single sign-on, 503 if the issuer does not answer */
  async begin(): Promise<{ url: string; checks: OidcChecks }> {
    return this.required().begin();
  }

  /**
   * @param query of the callback's URL, with `?`
   * @throws AppError 401 for a response that is not valid, 404 without single sign-on, 503 if the issuer does
   * not answer
   */
  async finish(query: string, checks: OidcChecks): Promise<ProvedIdentity> {
    const claims = await this.required().finish(query, checks, ['email', this.groupsClaim]);
    return { ...toIssuedIdentity(claims, this.groupsClaim), way: 'oidc', roles: this.roles };
  }

  private required(): OidcClient {
    if (!this.client) throw wayUnused('oidc');
    return this.client;
  }
}
