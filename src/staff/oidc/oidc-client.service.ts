/** Plinth as a client of the issuer: authorization code with PKCE (RFC 7636), state and nonce, by discovery. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Configuration } from 'openid-client' with { 'resolution-mode': 'import' };
import { messageOf } from '../../common/errors/error-facts';
import type { JsonObject } from '../../common/text/json';
import { OidcConfig, SERVER_CONFIG, ServerConfig, STAFF_CONFIG, StaffConfig } from '../../config/app-config';
import { oidcFailed, oidcUnreachable, oidcUnused } from '../staff.errors';
import { hasClaim, IssuedIdentity, toIssuedIdentity } from './issued-identity';

/** Seconds for an answer of the issuer. */
const TIMEOUT_SECONDS = 10;
/** Milliseconds after which the issuer's metadata are read again. */
const REDISCOVER_MS = 60 * 60_000;

/** Callback at Plinth; the client is registered with it at the issuer. */
const CALLBACK_PATH = '/admin/v1/session/oidc/callback';

/** What one sign-in is bound to. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface Discovered {
  readonly until: number;
  readonly configuration: Promise<Configuration>;
}

@Injectable()
export class OidcClient {
  private readonly logger = new Logger(OidcClient.name);
  private readonly config: OidcConfig | null;
  private readonly redirectUri: string;
  private discovered: Discovered | null = null;

  constructor(
    @Inject(STAFF_CONFIG) { oidc }: StaffConfig,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    this.config = oidc;
    this.redirectUri = publicUrl + CALLBACK_PATH;
  }

  /** Host of the issuer, for the sign-in page; null without single sign-on. */
  get issuerHost(): string | null {
    return this.config && new URL(this.config.issuer).host;
  }

  /** The issuer's page, and what its answer is checked with. @throws AppError 404 without single sign-on, 503 */
  async begin(): Promise<{ url: string; checks: OidcChecks }> {
    const { scopes } = this.required();
    const library = await import('openid-client');
    const configuration = await this.discover();
    const checks = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    };
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: scopes,
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, checks };
  }

  /**
   * Verifies the issuer's answer and exchanges its code.
   * @param query of the callback's URL, with `?`
   * @throws AppError 401 for an answer that is not the one to this sign-in, or a token that does not verify; 404, 503
   */
  async finish(query: string, checks: OidcChecks): Promise<IssuedIdentity> {
    const { groupsClaim } = this.required();
    const library = await import('openid-client');
    const configuration = await this.discover();
    try {
      const tokens = await library.authorizationCodeGrant(configuration, new URL(this.redirectUri + query), {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as JsonObject | undefined;
      if (!claims) throw new Error('the issuer sent no ID token');
      const lacks = ['email', groupsClaim].some((name) => !hasClaim(claims, name));
      if (!lacks || configuration.serverMetadata().userinfo_endpoint === undefined)
        return toIssuedIdentity(claims, groupsClaim);
      // fetchUserInfo() refuses claims about another subject.
      const more = await library.fetchUserInfo(configuration, tokens.access_token, claims.sub as string);
      return toIssuedIdentity({ ...(more as JsonObject), ...claims }, groupsClaim);
    } catch (error) {
      this.logger.warn(`Single sign-on failed: ${messageOf(error)}`);
      throw oidcFailed(error);
    }
  }

  private required(): OidcConfig {
    if (!this.config) throw oidcUnused();
    return this.config;
  }

  private async discover(): Promise<Configuration> {
    if (!this.discovered || this.discovered.until <= Date.now()) {
      this.discovered = { until: Date.now() + REDISCOVER_MS, configuration: this.readMetadata() };
    }
    try {
      return await this.discovered.configuration;
    } catch (error) {
      this.discovered = null;
      this.logger.error(`The issuer of single sign-on cannot be read: ${messageOf(error)}`);
      throw oidcUnreachable(error);
    }
  }

  private async readMetadata(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.required();
    const library = await import('openid-client');
    const authentication = clientSecret === null ? library.None() : library.ClientSecretBasic(clientSecret);
    // The configuration refuses http for issuers on other machines.
    const execute = issuer.startsWith('http:') ? [library.allowInsecureRequests] : [];
    const metadata = clientSecret === null ? {} : { client_secret: clientSecret };
    return library.discovery(new URL(issuer), clientId, metadata, authentication, {
      execute,
      timeout: TIMEOUT_SECONDS,
    });
  }
}
