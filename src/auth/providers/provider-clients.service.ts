/** Talks to the providers of projects: finds the address of their page, exchanges their codes, and reads identities. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { decode } from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../../common/errors/error-facts';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { oidcFailed } from '../../identity/identity.errors';
import { isAccessTokenOf, verifyIdToken } from '../../identity/oidc/id-token';
import { KeySets } from '../../identity/oidc/key-sets';
import { type OidcChecks, OidcClient } from '../../identity/oidc/oidc-client';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import type { Project } from '../../projects/project';
import { issuerOf, PRESET_RULES, type Provider } from './provider';
import { type ProviderIdentity, toProviderIdentity } from './provider-identity';
import { openSecret } from './providers.service';

const MAX_CLIENTS = 500;
/** Bytes of an answer about a user. */
const MAX_PROFILE = 256 * 1024;
const WANTED = ['email', 'email_verified', 'name'];

/** The identity of a user at a provider, and the tokens for the provider's own API. */
export interface ProviderAnswer {
  readonly identity: ProviderIdentity;
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
}

export interface GivenToken {
  readonly idToken: string;
  readonly accessToken?: string;
  readonly nonce?: string;
}

@Injectable()
export class ProviderClients {
  private readonly logger = new Logger(ProviderClients.name);
  private readonly clients = new LRUCache<string, OidcClient>({ max: MAX_CLIENTS });

  constructor(
    private readonly http: OutboundHttp,
    private readonly keySets: KeySets,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  /** The address that is registered at the provider. */
  callbackOf(project: Pick<Project, 'slug'>): string {
    return `${this.server.publicUrl}/p/${project.slug}/auth/v1/callback`;
  }

  newChecks(project: Project, provider: Provider): Promise<Omit<OidcChecks, 'state'>> {
    return this.clientOf(project, provider).newChecks();
  }

  /** @param scopes requested in addition @throws AppError 503 */
  async urlFor(
    project: Project,
    provider: Provider,
    checks: OidcChecks,
    { scopes, parameters }: { scopes: string; parameters: Readonly<Record<string, string>> },
  ): Promise<string> {
    const scope = [...new Set([...scopesOf(provider).split(' '), ...scopes.split(' ')])].join(' ').trim();
    const fixed = PRESET_RULES[provider.preset].parameters;
    const url = await this.clientOf(project, provider).urlFor(checks, { ...parameters, ...fixed, scope });
    // The address comes from the provider's metadata.
    const target = new URL(url);
    if (target.protocol !== 'https:' && !this.http.isAllowed(target))
      throw oidcFailed(new Error(`the page of the provider is at ${target.origin}`));
    return url;
  }

  /** @param query the query of the callback, with `?` @throws AppError 401, 503 */
  async exchange(
    project: Project,
    provider: Provider,
    query: string,
    checks: OidcChecks,
  ): Promise<ProviderAnswer> {
    const client = this.clientOf(project, provider);
    const { claims, idToken, accessToken, refreshToken } = await client.exchange(query, checks);
    if (provider.preset === 'github') {
      const profile = await this.refusing(() => this.readGitHub(provider, accessToken));
      return { identity: this.identityOf(provider, profile), accessToken, refreshToken };
    }
    // The client verified the claims; the signature is verified here, with pinned algorithms.
    await this.refusing(() => this.verify(project, provider, idToken ?? ''));
    const all = await client.claimsOf(claims ?? {}, accessToken, WANTED);
    return { identity: this.identityOf(provider, all), accessToken, refreshToken };
  }

  /** Verifies an ID token that an application got from the provider. @throws AppError 401, 503 */
  async verifyGiven(project: Project, provider: Provider, given: GivenToken): Promise<ProviderIdentity> {
    const { idToken, accessToken, nonce } = given;
    return this.refusing(async () => {
      const claims = await this.verify(project, provider, idToken);
      assertNonce(claims, nonce);
      const algorithm = String(decode(idToken, { complete: true })?.header.alg);
      if (accessToken !== undefined && !isAccessTokenOf(claims, algorithm, accessToken))
        throw new Error('the access token does not belong to the ID token');
      return this.identityOf(provider, claims);
    });
  }

  private async verify(project: Project, provider: Provider, idToken: string): Promise<JsonObject> {
    if (provider.preset === 'github') throw new Error('the provider issues no ID tokens');
    const { issuer, jwks_uri: jwksUri } = await this.clientOf(project, provider).serverMetadata();
    if (jwksUri === undefined) throw new Error('the issuer has no key set');
    const { client_id: clientId, additional_client_ids: others } = provider.settings;
    return verifyIdToken(idToken, { issuer, jwksUri, audience: [clientId, ...others] }, this.keySets);
  }

  private identityOf(provider: Provider, claims: JsonObject): ProviderIdentity {
    // Apple sends strings instead of booleans.
    const isVerified =
      claims.email_verified === true || (provider.preset === 'apple' && claims.email_verified === 'true');
    try {
      return toProviderIdentity(provider.name, { ...claims, email_verified: isVerified });
    } catch (error) {
      throw oidcFailed(error);
    }
  }

  /** GitHub has no ID tokens; a user's addresses, and whether they are verified, are read from a separate path. */
  private async readGitHub(provider: Provider, accessToken: string): Promise<JsonObject> {
    const { api } = gitHubAddresses(issuerOf(provider));
    const read = async (path: string): Promise<unknown> => {
      const headers = { accept: 'application/vnd.github+json', authorization: `Bearer ${accessToken}` };
      const answer = await this.http.send(`${api}${path}`, { headers }, { maxBytes: MAX_PROFILE });
      if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
      return parseJson(await answer.text());
    };
    const [user, emails] = await Promise.all([read('/user'), read('/user/emails')]);
    if (!isJsonObject(user) || typeof user.id !== 'number') throw new Error('the answer is not a user');
    const list = Array.isArray(emails) ? emails.filter(isJsonObject) : [];
    const primary = list.find((one) => one.primary === true);
    return {
      iss: issuerOf(provider),
      sub: String(user.id),
      email: primary?.email ?? null,
      email_verified: primary?.verified === true,
      name: user.name ?? null,
      preferred_username: user.login ?? null,
      picture: user.avatar_url ?? null,
    };
  }

  private async refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.logger.warn(`A provider's answer was refused: ${messageOf(error)}`);
      throw oidcFailed(error);
    }
  }

  private clientOf(project: Project, provider: Provider): OidcClient {
    const key = `${project.id}:${fingerprintOf(provider)}:${project.slug}`;
    const known = this.clients.get(key);
    if (known) return known;
    const issuer = issuerOf(provider);
    const client = new OidcClient({
      issuer,
      clientId: provider.settings.client_id,
      clientSecret: openSecret(project, provider),
      scopes: scopesOf(provider),
      redirectUri: this.callbackOf(project),
      authentication: PRESET_RULES[provider.preset].authentication,
      fetch: (url, { method, headers, body }) => this.http.send(url, { method, headers, body: textOf(body) }),
      ...(provider.preset === 'github' ? { server: gitHubAddresses(issuer).server } : {}),
    });
    this.clients.set(key, client);
    return client;
  }
}

/** Changes with every setting that determines the provider's addresses or the requests to it. */
export function fingerprintOf({ name, preset, settings, sealedSecret }: Provider): string {
  const parts = [name, preset, settings, sealedSecret?.toString('base64') ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** The body of a request of the library, which sends forms only. */
function textOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body;
  return body instanceof URLSearchParams ? body.toString() : undefined;
}

const scopesOf = ({ preset, settings }: Provider): string => settings.scopes ?? PRESET_RULES[preset].scopes;

/** GitHub itself, or a GitHub Enterprise Server. */
function gitHubAddresses(issuer: string): {
  server: { issuer: string; authorization_endpoint: string; token_endpoint: string };
  api: string;
} {
  const base = issuer.replace(/\/$/, '');
  return {
    server: {
      issuer: base,
      authorization_endpoint: `${base}/login/oauth/authorize`,
      token_endpoint: `${base}/login/oauth/access_token`,
    },
    api: base === 'https://github.com' ? 'https://api.github.com' : `${base}/api/v3`,
  };
}

/** As GoTrue does: the token has the SHA-256 of the nonce, so that only the application knows the nonce. */
function assertNonce({ nonce: hashed }: JsonObject, nonce: string | undefined): void {
  if ((hashed === undefined) !== (nonce === undefined))
    throw new Error('the nonce is either in the token or in the request only');
  if (nonce !== undefined && createHash('sha256').update(nonce).digest('hex') !== hashed)
    throw new Error('the nonce does not match');
}
