/** A client of one issuer of OpenID Connect: authorization code with PKCE (RFC 7636), state and nonce, by discovery. */
import { Logger } from '@nestjs/common';
import type { Configuration } from 'openid-client' with { 'resolution-mode': 'import' };
import { messageOf } from '../../common/errors/error-facts';
import type { JsonObject } from '../../common/text/json';
import { oidcFailed, oidcUnreachable } from '../identity.errors';
import { hasClaim } from './issued-identity';

/** Seconds for an answer of the issuer. */
const TIMEOUT_SECONDS = 10;
/** Milliseconds after which the issuer's metadata are read again. */
const REDISCOVER_MS = 60 * 60_000;

export interface OidcClientConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  /** Separated by spaces. */
  readonly scopes: string;
  /** The callback, with which the client is registered at the issuer. */
  readonly redirectUri: string;
}

/** What one sign-in is bound to. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export class OidcClient {
  private readonly logger = new Logger(OidcClient.name);
  private discovered: { readonly until: number; readonly configuration: Promise<Configuration> } | null =
    null;

  constructor(private readonly config: OidcClientConfig) {}

  /** The issuer's page, and what its answer is checked with. @throws AppError 503 */
  async begin(): Promise<{ url: string; checks: OidcChecks }> {
    const library = await import('openid-client');
    const configuration = await this.discover();
    const checks = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    };
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: this.config.redirectUri,
      scope: this.config.scopes,
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
   * @param wanted claims that the userinfo endpoint is asked for if the ID token lacks one of them
   * @returns the claims, of which `iss` and `sub` are texts
   * @throws AppError 401 for an answer that is not the one to this sign-in, or a token that does not verify; 503
   */
  async finish(query: string, checks: OidcChecks, wanted: readonly string[]): Promise<JsonObject> {
    const library = await import('openid-client');
    const configuration = await this.discover();
    try {
      const callback = new URL(this.config.redirectUri + query);
      const tokens = await library.authorizationCodeGrant(configuration, callback, {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as JsonObject | undefined;
      if (!claims) throw new Error('the issuer sent no ID token');
      const isComplete = wanted.every((name) => hasClaim(claims, name));
      if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
      // fetchUserInfo() refuses claims about another subject.
      const more = await library.fetchUserInfo(configuration, tokens.access_token, claims.sub as string);
      return { ...(more as JsonObject), ...claims };
    } catch (error) {
      this.logger.warn(`Single sign-on failed: ${messageOf(error)}`);
      throw oidcFailed(error);
    }
  }

  private async discover(): Promise<Configuration> {
    if (!this.discovered || this.discovered.until <= Date.now())
      this.discovered = { until: Date.now() + REDISCOVER_MS, configuration: this.readMetadata() };
    try {
      return await this.discovered.configuration;
    } catch (error) {
      this.discovered = null;
      this.logger.error(`The issuer of single sign-on cannot be read: ${messageOf(error)}`);
      throw oidcUnreachable(error);
    }
  }

  private async readMetadata(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.config;
    const library = await import('openid-client');
    const authentication = clientSecret === null ? library.None() : library.ClientSecretBasic(clientSecret);
    const metadata = clientSecret === null ? {} : { client_secret: clientSecret };
    // Whoever configures an issuer refuses http for those on other machines.
    const execute = issuer.startsWith('http:') ? [library.allowInsecureRequests] : [];
    const options = { execute, timeout: TIMEOUT_SECONDS };
    return library.discovery(new URL(issuer), clientId, metadata, authentication, options);
  }
}
