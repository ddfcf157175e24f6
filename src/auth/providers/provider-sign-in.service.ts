/**
 * Sign-in at a provider: the redirect to its page, the callback, and the session. The state that travels through the browser is
 * encrypted and holds all that the answer is checked with, so beginning a sign-in stores nothing. It works once, for ten
 * minutes, and only while the provider is unchanged.
 *
 * A client with PKCE gets a code that its verifier alone turns into a session. Without PKCE the session itself goes to the
 * browser, so the callback must come from the browser that began: nobody can be signed in to somebody else's account.
 */
import { Injectable } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { Clock } from '../../common/time/clock';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import type { Sender } from '../../identity/request-origin';
import { equalSecrets } from '../../infra/crypto/constant-time';
import { SecretBox } from '../../infra/crypto/secret-box';
import type { Project } from '../../projects/project';
import type { SessionOwner } from '../accounts/account-statements';
import {
  invalidExchangeCode,
  invalidState,
  noRedirect,
  providerNotEnabled,
  providerNotFound,
  providerRefused,
} from '../auth.errors';
import { CodeExchange } from '../codes/code-exchange.service';
import type { CodeChallenge } from '../mail/mail-flow';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionStarter } from '../sessions/session-starter.service';
import { AccountRepository } from '../accounts/account.repository';
import { IdentitiesService } from './identities.service';
import { IdentityRepository } from './identity.repository';
import { type Provider, PROVIDER_NAME } from './provider';
import { fingerprintOf, type GivenToken, ProviderClients } from './provider-clients.service';
import type { ProviderIdentity } from './provider-identity';
import { ProviderRepository } from './provider.repository';

/** Milliseconds. */
const LIFETIME_MS = 10 * 60_000;
/** Characters of a state. */
const MAX_STATE = 8_000;

export interface ProviderRequest {
  readonly provider: string;
  /** The redirect address, if the project allows it; null without one. */
  readonly redirectTo: string | null;
  /** Null: the browser gets the session itself. */
  readonly challenge: CodeChallenge | null;
  readonly scopes: string;
  /** Parameters of the application for the page of the provider. */
  readonly parameters: Readonly<Record<string, string>>;
  /** A random value that only the browser knows; null for a link, which begins in an application. */
  readonly browser: string | null;
  /** The session to whose account the identity is linked. */
  readonly owner: SessionOwner | null;
}

/** A sign-in that the provider has answered. */
export interface ProviderFlow {
  readonly id: string;
  readonly until: number;
  readonly provider: string;
  readonly fingerprint: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectTo: string;
  readonly challenge: CodeChallenge | null;
  readonly browserHash: string | null;
  readonly owner: SessionOwner | null;
  /** An administrator tries the provider: nobody is signed in, and nothing is stored about the user. */
  readonly isTrial?: boolean;
}

export interface ProviderTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
}

export interface ProviderSession {
  readonly session: SignedIn;
  readonly tokens: ProviderTokens;
}

/** A link without PKCE: the user sees both accounts and confirms. */
interface PendingLink {
  readonly id: string;
  readonly until: number;
  readonly owner: SessionOwner;
  readonly identity: ProviderIdentity;
  readonly redirectTo: string;
}

export type ProviderOutcome =
  | { readonly code: string }
  | ProviderSession
  | { readonly pending: string; readonly identity: ProviderIdentity; readonly email: string }
  | { readonly tried: ProviderIdentity };

interface CodeExtra {
  readonly tokens: ProviderTokens;
  readonly link: { readonly owner: SessionOwner; readonly identity: ProviderIdentity } | null;
}

@Injectable()
export class ProviderSignIn {
  constructor(
    private readonly providers: ProviderRepository,
    private readonly clients: ProviderClients,
    private readonly identities: IdentitiesService,
    private readonly rows: IdentityRepository,
    private readonly accounts: AccountRepository,
    private readonly codes: CodeExchange,
    private readonly starter: SessionStarter,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** The address of the provider's page. @throws AppError 400, 401, 403, 503 */
  async begin(project: Project, request: ProviderRequest): Promise<string> {
    const { redirectTo, owner, challenge, browser, scopes, parameters } = request;
    if (owner) await this.identities.assertMayLink(project, owner);
    const provider = await this.enabled(project, request.provider);
    if (redirectTo === null) throw noRedirect();
    const browserHash = browser === null ? null : hashOf(browser);
    const purpose = { redirectTo, challenge, browserHash, owner };
    return this.urlFor(project, provider, purpose, { scopes, parameters });
  }

  /** The address of the provider's page, for an administrator who tests the provider, which may be disabled. */
  async beginTrial(project: Project, name: string): Promise<string> {
    const provider = PROVIDER_NAME.test(name) ? await this.providers.find(project, name) : null;
    if (!provider) throw providerNotFound();
    const purpose = { redirectTo: '', challenge: null, browserHash: null, owner: null, isTrial: true };
    return this.urlFor(project, provider, purpose, { scopes: '', parameters: {} });
  }

  private async urlFor(
    project: Project,
    provider: Provider,
    purpose: Pick<ProviderFlow, 'redirectTo' | 'challenge' | 'browserHash' | 'owner' | 'isTrial'>,
    more: Pick<ProviderRequest, 'scopes' | 'parameters'>,
  ): Promise<string> {
    const checks = await this.clients.newChecks(project, provider);
    const flow: ProviderFlow = {
      ...checks,
      ...purpose,
      id: randomUUID(),
      until: this.clock.now() + LIFETIME_MS,
      provider: provider.name,
      fingerprint: fingerprintOf(provider),
    };
    const state = boxOf(project).sealToken(flow, 'provider-state');
    return this.clients.urlFor(project, provider, { ...checks, state }, more);
  }

  /** @throws AppError 400 for a state that is altered, too old, or of another project */
  openState(project: Project, state: string): ProviderFlow {
    const flow = unseal<ProviderFlow>(project, 'provider-state', state);
    if (!flow || flow.until <= this.clock.now()) throw invalidState();
    return flow;
  }

  /**
   * @param query the query of the callback, with `?`
   * @param browser the value given to begin(), as the browser of the callback returns it
   * @throws AppError 400, 401, 403, 422, 429, 503
   */
  async complete(
    { project, origin }: Sender,
    flow: ProviderFlow,
    query: string,
    browser: string | null,
  ): Promise<ProviderOutcome> {
    const { challenge, browserHash, owner, isTrial = false } = flow;
    const isBound = challenge !== null || owner !== null || isTrial;
    if (!isBound && (browser === null || browserHash === null || !equalSecrets(hashOf(browser), browserHash)))
      throw invalidState();
    const parameters = new URLSearchParams(query);
    if (parameters.has('error')) throw providerRefused();
    const provider = await this.providers.find(project, flow.provider);
    if (!provider?.enabled && !isTrial) throw providerNotEnabled();
    if (!provider || fingerprintOf(provider) !== flow.fingerprint) throw invalidState();
    const state = parameters.get('state') ?? '';
    const checks = { nonce: flow.nonce, verifier: flow.verifier, state };
    // The provider accepts a code once, but other parts of the answer could be sent again.
    if (!(await this.rows.useState(project, flow.id, new Date(flow.until), this.clock.date())))
      throw invalidState();
    const { identity, accessToken, refreshToken } = await this.clients.exchange(
      project,
      provider,
      query,
      checks,
    );
    if (isTrial) return { tried: identity };
    const tokens = { accessToken, refreshToken };
    if (owner) return this.offerLink(project, flow, { owner, identity, tokens });
    const { account } = await this.identities.accountOf({ project, origin }, identity);
    if (challenge) {
      const extra: CodeExtra = { tokens, link: null };
      return {
        code: await this.codes.issue(project, { userId: account.id, method: 'oauth', challenge }, extra),
      };
    }
    return this.sessionOf({ project, origin }, account.id, tokens);
  }

  /** A client turns its code into a session, and so links the identity if it asked for that. @throws AppError */
  async exchange(from: Sender, given: { code: string; verifier: string }): Promise<ProviderSession> {
    const { userId, method, extra } = await this.codes.spend<CodeExtra>(from, given);
    if (extra?.link) {
      const { owner, identity } = extra.link;
      await this.identities.link(from, owner, identity);
    }
    const session = await this.start(from, userId, method);
    return { session, tokens: extra?.tokens ?? NO_TOKENS };
  }

  /** The user has seen the page and pressed its button. @throws AppError */
  async confirmLink(
    from: Sender,
    sealed: string,
  ): Promise<ProviderSession & { readonly redirectTo: string }> {
    const pending = unseal<PendingLink>(from.project, 'provider-link', sealed);
    if (!pending || pending.until <= this.clock.now()) throw invalidState();
    const { id, until, owner, identity, redirectTo } = pending;
    if (!(await this.rows.useState(from.project, id, new Date(until), this.clock.date())))
      throw invalidState();
    await this.identities.link(from, owner, identity);
    return { ...(await this.sessionOf(from, owner.userId, NO_TOKENS)), redirectTo };
  }

  /** Signs in with an ID token that the application got from the provider. @throws AppError 400, 401, 403, 422, 429, 503 */
  async signInWithToken(from: Sender, name: string, given: GivenToken): Promise<SignedIn> {
    const provider = await this.enabled(from.project, name);
    const identity = await this.throttle.attemptOrThrow(from, () =>
      this.clients.verifyGiven(from.project, provider, given),
    );
    const { account } = await this.identities.accountOf(from, identity);
    return this.start(from, account.id, 'oauth');
  }

  /** Names of the enabled providers. */
  async enabledNames(project: Project): Promise<string[]> {
    return (await this.providers.list(project)).filter(({ enabled }) => enabled).map(({ name }) => name);
  }

  /** With PKCE, the exchange of the code links the identity; without PKCE, a page asks the user. */
  private async offerLink(
    project: Project,
    { challenge, redirectTo }: ProviderFlow,
    { owner, identity, tokens }: { owner: SessionOwner; identity: ProviderIdentity; tokens: ProviderTokens },
  ): Promise<ProviderOutcome> {
    const { userId, sessionId } = owner;
    if (challenge) {
      const extra: CodeExtra = { tokens, link: { owner, identity } };
      return { code: await this.codes.issue(project, { userId, method: 'oauth', challenge }, extra) };
    }
    const account = await this.accounts.findLive(project, userId, sessionId, this.clock.date());
    if (!account) throw invalidState();
    const until = this.clock.now() + LIFETIME_MS;
    const pending: PendingLink = { id: randomUUID(), until, owner, identity, redirectTo };
    return {
      pending: boxOf(project).sealToken(pending, 'provider-link'),
      identity,
      email: account.email || account.id,
    };
  }

  private async sessionOf(from: Sender, userId: string, tokens: ProviderTokens): Promise<ProviderSession> {
    return { session: await this.start(from, userId, 'oauth'), tokens };
  }

  /** @throws AppError 401 if the account was banned, deleted or changed in the meantime */
  private async start(
    from: Sender,
    userId: string,
    method: Parameters<SessionStarter['start']>[2],
  ): Promise<SignedIn> {
    const credentials = await this.accounts.findCredentialsById(from.project, userId);
    const started = credentials && (await this.starter.start(from, credentials, method));
    if (!started) throw invalidExchangeCode();
    return started;
  }

  private async enabled(project: Project, name: string): Promise<Provider> {
    const found = PROVIDER_NAME.test(name) ? await this.providers.find(project, name) : null;
    if (!found?.enabled) throw providerNotEnabled();
    return found;
  }
}

const NO_TOKENS: ProviderTokens = { accessToken: null, refreshToken: null };

const hashOf = (browser: string): string => createHash('sha256').update(browser).digest('base64url');

const boxOf = ({ dataSecret }: Project): SecretBox => new SecretBox(dataSecret);

const unseal = <T extends object>(project: Project, purpose: string, sealed: string): T | null =>
  sealed.length > MAX_STATE ? null : boxOf(project).openToken<T>(sealed, purpose);
