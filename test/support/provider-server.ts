/**
 * A small issuer of OpenID Connect and, below /login/oauth and /api/v3, an OAuth 2 server that imitates GitHub. It
 * checks what a provider checks (client, redirect address, PKCE, one use of a code), and a test can falsify each of its
 * answers.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Grant {
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly nonce: string | null;
  readonly claims: object;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export class ProviderServer {
  /** The user who signs in next. */
  user: Record<string, unknown> = { sub: 'nobody' };
  /** Email addresses of the user at GitHub. */
  emails: object[] = [];
  /** Handlers that replace answers, by path. */
  readonly overrides = new Map<string, Handler>();
  /** Creates an ID token from its claims. */
  makeToken: (claims: object) => string = (claims) => signToken(claims);
  /** Number of requests, by path. */
  readonly requests = new Map<string, number>();
  private readonly grants = new Map<string, Grant>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ProviderServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const provider = new ProviderServer(server);
    server.on('request', (request, response) => void provider.answer(request, response));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resets everything that a test has falsified. */
  reset(): void {
    this.overrides.clear();
    this.makeToken = (claims) => signToken(claims);
  }

  /** Signs in at the page of the provider as a browser does. @returns address of the callback */
  async signIn(page: string, user: Record<string, unknown>, emails: object[] = []): Promise<URL> {
    Object.assign(this, { user, emails });
    const answer = await fetch(page, { redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? 'about:blank');
  }

  /** An ID token as a mobile application receives it. */
  idToken(claims: object): string {
    const now = Math.floor(Date.now() / 1_000);
    return this.makeToken({ iss: this.url, aud: 'app', iat: now, exp: now + 300, ...claims });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    this.requests.set(url.pathname, (this.requests.get(url.pathname) ?? 0) + 1);
    const handler = this.overrides.get(url.pathname);
    if (handler) return handler(request, response);
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return json(response, this.metadata());
      case '/jwks':
        return json(response, { keys: [PUBLIC_JWK] });
      case '/authorize':
      case '/login/oauth/authorize':
        return this.authorize(url.searchParams, response);
      case '/token':
      case '/login/oauth/access_token':
        return this.token(new URLSearchParams(await text(request)), request, response);
      case '/api/v3/user':
        return json(response, this.user);
      case '/api/v3/user/emails':
        return json(response, this.emails);
      default:
        return json(response, {}, 404);
    }
  }

  metadata(): Record<string, unknown> {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  private authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    const redirectUri = query.get('redirect_uri') ?? '';
    this.grants.set(code, {
      redirectUri,
      challenge: query.get('code_challenge'),
      nonce: query.get('nonce'),
      claims: this.user,
    });
    const target = new URL(redirectUri);
    target.searchParams.set('code', code);
    target.searchParams.set('state', query.get('state') ?? '');
    if (query.has('nonce')) target.searchParams.set('iss', this.url);
    response.writeHead(302, { location: target.href }).end();
  }

  private token(form: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const basic = Buffer.from(
      (request.headers.authorization ?? '').replace('Basic ', ''),
      'base64',
    ).toString();
    const secret = form.get('client_secret') ?? decodeURIComponent(basic.split(':')[1] ?? '');
    const grant = this.grants.get(form.get('code') ?? '');
    this.grants.delete(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (secret !== 'secret' || !grant || grant.redirectUri !== form.get('redirect_uri'))
      return json(response, { error: 'invalid_grant' }, 400);
    if (grant.challenge !== verifier) return json(response, { error: 'invalid_grant' }, 400);
    const tokens = { access_token: `at-${randomUUID()}`, token_type: 'bearer', refresh_token: 'rt' };
    if (grant.nonce === null) return json(response, tokens);
    json(response, { ...tokens, id_token: this.idToken({ nonce: grant.nonce, ...grant.claims }) });
  }
}

export const PUBLIC_JWK = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' };
export const PUBLIC_PEM = publicKey.export({ format: 'pem', type: 'spki' }).toString();

/** @param header replaces members of the usual one */
export function signToken(claims: object, header: object = {}, key: KeyObject = privateKey): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'k1', ...header })}.${encode(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}

export function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
