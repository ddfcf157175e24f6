/** A client of one issuer of OpenID Connect: authorization code with PKCE (RFC 7636), state and nonce, by discovery. */
import { Logger } from '@nestjs/common';
import type { ClientAuth, Configuration, CustomFetch, ServerMetadata } from 'openid-client' with {
  'resolution-mode': 'import',
};
import { messageOf } from '../../common/errors/error-facts';
import type { JsonObject } from '../../common/text/json';
import { oidcFailed, oidcUnreachable } from '../identity.errors';
import { CLOCK_TOLERANCE } from './id-token';
import { hasClaim } from './issued-identity';

/** Seconds for an answer of the issuer. */
const TIMEOUT_SECONDS = 10;
/** Milliseconds after which the issuer's metadata are read again. */
const REDISCOVER_MS = 60 * 60_000;
/** Milliseconds after a failure in which sign-ins are refused without asking the issuer again. */
const RETRY_MS = 5_000;

type Library = typeof import('openid-client', { with: { 'resolution-mode': 'import' } });

export interface OidcClientConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  /** Separated by spaces. */
  readonly scopes: string;
  /** The callback, with which the client is registered at the issuer. */
  readonly redirectUri: string;
  /** Default: fetch() of Node, for an issuer that the operator chose. */
  readonly fetch?: CustomFetch;
  /** How the secret is sent; default: `basic`. */
  readonly authentication?: 'basic' | 'post';
  /** For an OAuth 2 server without OpenID Connect, which has no metadata to discover and issues no ID tokens. */
  readonly server?: ServerMetadata;
}

/** The values that a sign-in is bound to. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The answer of the token endpoint. */
export interface IssuedTokens {
  /** Claims of the ID token; null for a server without OpenID Connect. */
  readonly claims: JsonObject | null;
  readonly idToken: string | null;
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

export class OidcClient {
  private readonly logger = new Logger(OidcClient.name);
  private discovered: { until: number; readonly configuration: Promise<Configuration> } | null = null;

  constructor(private readonly config: OidcClientConfig) {}

  /** The issuer's page, and the values with which its answer is checked. @throws AppError 503 */
  async begin(): Promise<{ url: string; checks: OidcChecks }> {
    const library = await import('openid-client');
    const checks = { ...(await this.newChecks()), state: library.randomState() };
    return { url: await this.urlFor(checks), checks };
  }

  async newChecks(): Promise<Omit<OidcChecks, 'state'>> {
    const library = await import('openid-client');
    return { nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() };
  }

  /** The issuer's page. @param parameters added to its query @throws AppError 503 */
  async urlFor(checks: OidcChecks, parameters: Readonly<Record<string, string>> = {}): Promise<string> {
    const library = await import('openid-client');
    const configuration = await this.discover();
    const url = library.buildAuthorizationUrl(configuration, {
      ...parameters,
      redirect_uri: this.config.redirectUri,
      scope: parameters.scope ?? this.config.scopes,
      state: checks.state,
      ...(this.config.server ? {} : { nonce: checks.nonce }),
      code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /** @throws AppError 503 */
  async serverMetadata(): Promise<Readonly<ServerMetadata>> {
    return (await this.discover()).serverMetadata();
  }

  /**
   * Verifies the issuer's answer and exchanges its code. The signature of an ID token is not verified, since it came over TLS.
   * @param query the query of the callback's URL, with `?`
   * @throws AppError 401 for an answer to another sign-in, 503
   */
  async exchange(query: string, checks: OidcChecks): Promise<IssuedTokens> {
    const configuration = await this.discover();
    return this.refusing(async () => {
      const library = await import('openid-client');
      const callback = new URL(this.config.redirectUri + query);
      const isOidc = !this.config.server;
      const tokens = await library.authorizationCodeGrant(configuration, callback, {
        expectedState: checks.state,
        ...(isOidc ? { expectedNonce: checks.nonce } : {}),
        pkceCodeVerifier: checks.verifier,
        idTokenExpected: isOidc,
      });
      const claims = (tokens.claims() as JsonObject | undefined) ?? null;
      if (isOidc && !claims) throw new Error('the issuer sent no ID token');
      return {
        claims,
        idToken: tokens.id_token ?? null,
        accessToken: tokens.access_token,
        refreshToken: tokens.refresh_token ?? null,
      };
    });
  }

  /**
   * The claims of an account: of its ID token, and of the userinfo endpoint if it lacks a wanted claim.
   * @throws AppError 401, 503
   */
  async claimsOf(claims: JsonObject, accessToken: string, wanted: readonly string[]): Promise<JsonObject> {
    const configuration = await this.discover();
    const isComplete = wanted.every((name) => hasClaim(claims, name));
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    return this.refusing(async () => {
      const library = await import('openid-client');
      // fetchUserInfo() refuses claims about another subject.
      const more = await library.fetchUserInfo(configuration, accessToken, claims.sub as string);
      return { ...(more as JsonObject), ...claims, ...addressIn(claims, more as JsonObject) };
    });
  }

  /**
   * Calls exchange(), then claimsOf().
   * @param wanted claims that the userinfo endpoint is asked for if the ID token lacks one of them
   * @returns the claims, of which `iss` and `sub` are texts
   */
  async finish(query: string, checks: OidcChecks, wanted: readonly string[]): Promise<JsonObject> {
    const { claims, accessToken } = await this.exchange(query, checks);
    return this.claimsOf(claims ?? {}, accessToken, wanted);
  }

  private async refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.logger.warn(`Single sign-on failed: ${messageOf(error)}`);
      throw oidcFailed(error);
    }
  }

  private async discover(): Promise<Configuration> {
    if (!this.discovered || this.discovered.until <= Date.now())
      this.discovered = { until: Date.now() + REDISCOVER_MS, configuration: this.readMetadata() };
    const { discovered } = this;
    try {
      return await discovered.configuration;
    } catch (error) {
      const until = Date.now() + RETRY_MS;
      if (discovered.until > until) {
        // Anybody can begin a sign-in: the issuer is not asked again for each sign-in.
        discovered.until = until;
        this.logger.error(`The issuer of single sign-on cannot be read: ${messageOf(error)}`);
      }
      throw oidcUnreachable(error);
    }
  }

  private async readMetadata(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, server, fetch } = this.config;
    const library = await import('openid-client');
    const metadata = {
      ...(clientSecret === null ? {} : { client_secret: clientSecret }),
      [library.clockTolerance]: CLOCK_TOLERANCE,
    };
    const authentication = this.authentication(library);
    // The operator allows http, for an issuer on this machine or for a host of a tenant.
    const execute = issuer.startsWith('http:') ? [library.allowInsecureRequests] : [];
    if (server) {
      const configuration = new library.Configuration(server, clientId, metadata, authentication);
      execute.forEach((allow) => allow(configuration));
      configuration.timeout = TIMEOUT_SECONDS;
      if (fetch) configuration[library.customFetch] = fetch;
      return configuration;
    }
    const options = {
      execute,
      timeout: TIMEOUT_SECONDS,
      ...(fetch ? { [library.customFetch]: fetch } : {}),
    };
    return library.discovery(new URL(issuer), clientId, metadata, authentication, options);
  }

  private authentication({ None, ClientSecretBasic, ClientSecretPost }: Library): ClientAuth {
    const { clientSecret, authentication } = this.config;
    if (clientSecret === null) return None();
    return authentication === 'post' ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
  }
}

/** The address and its proof from the same source: `email_verified` of one source says nothing about the address of the other. */
function addressIn(claims: JsonObject, more: JsonObject): JsonObject {
  const source = hasClaim(claims, 'email') ? claims : more;
  const isSame = claims.email === more.email;
  const { email = null, email_verified: verified = isSame ? more.email_verified : undefined } = source;
  return { email, email_verified: verified ?? null };
}
