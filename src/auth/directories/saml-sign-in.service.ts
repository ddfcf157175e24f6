/**
 * Sign-in at an identity provider of SAML 2.0. Only a response to a request of ours is accepted, once, and it leads to a code that
 * the client who began exchanges with its PKCE verifier: nobody is signed in to an account that somebody else chose.
 */
import { Inject, Injectable } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import type { Sender } from '../../identity/request-origin';
import {
  newRequestId,
  samlMetadata,
  samlRequestUrl,
  type SamlService,
  type SamlSubject,
} from '../../identity/saml/saml-client';
import { SamlResponses, samlServiceAt, samlUser } from '../../identity/saml/saml-responses.service';
import type { Project } from '../../projects/project';
import { invalidState, noRedirect, ssoProviderNotFound } from '../auth.errors';
import { CodeExchange } from '../codes/code-exchange.service';
import type { CodeChallenge } from '../mail/mail-flow';
import { IdentitiesService } from '../providers/identities.service';
import { IdentityRepository } from '../providers/identity.repository';
import { fromDirectory, type ProviderIdentity } from '../providers/provider-identity';
import type { SamlProvider, SamlRequest } from './saml-provider';
import { SamlProviderRepository } from './saml-provider.repository';
import { SamlProviders } from './saml-providers.service';

/** Milliseconds. */
const LIFETIME_MS = 10 * 60_000;
/** The redirect address of a trial. */
const TRIAL = '';

/** True for the request of an administrator: nobody is signed in, and nothing is stored about the user. */
export const isTrial = ({ redirectTo }: SamlRequest): boolean => redirectTo === TRIAL;

export interface SamlRequestInput {
  readonly by: { readonly id: string } | { readonly domain: string };
  /** The redirect address, if the project allows it; null without one. */
  readonly redirectTo: string | null;
  readonly challenge: CodeChallenge | null;
}

@Injectable()
export class SamlSignIn {
  constructor(
    private readonly rows: SamlProviderRepository,
    private readonly providers: SamlProviders,
    private readonly identities: IdentitiesService,
    private readonly states: IdentityRepository,
    private readonly codes: CodeExchange,
    private readonly responses: SamlResponses,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  metadata(project: Project): Promise<string> {
    return samlMetadata(this.serviceOf(project));
  }

  /** The address of the provider's page. @throws AppError 400, 401, 404 */
  async begin(project: Project, { by, redirectTo, challenge }: SamlRequestInput): Promise<string> {
    const isNoId = 'id' in by && !UUID.test(by.id);
    const key = 'domain' in by ? { domain: by.domain.toLowerCase() } : by;
    const provider = isNoId ? null : await this.rows.find(project, key);
    if (!provider?.enabled) throw ssoProviderNotFound();
    if (redirectTo === null) throw noRedirect();
    if (challenge === null)
      throw invalidParameters('code_challenge is needed: create the client with flowType "pkce"');
    return this.urlFor(project, provider, { redirectTo, challenge });
  }

  /** The address of the provider's page, for an administrator who tests the provider, which may be disabled. */
  async beginTrial(project: Project, id: string): Promise<string> {
    const provider = await this.providers.get(project, id);
    return this.urlFor(project, provider, {
      redirectTo: TRIAL,
      challenge: { challenge: '', method: 's256' },
    });
  }

  private async urlFor(
    project: Project,
    provider: SamlProvider,
    purpose: Pick<SamlRequest, 'redirectTo' | 'challenge'>,
  ): Promise<string> {
    const issuer = await this.providers.issuerOf(project, provider);
    const id = newRequestId();
    const url = await samlRequestUrl(this.serviceOf(project), issuer, {
      requestId: id,
      nameIdFormat: provider.nameIdFormat,
    });
    const request = { ...purpose, id, providerId: provider.id };
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.rows.insertRequest(project, request, this.clock.date(), expiresAt);
    return url;
  }

  /** The request that a response answers. @throws AppError 400, 401 */
  async open(project: Project, samlResponse: string): Promise<SamlRequest> {
    const id = await this.responses.requestOf(samlResponse);
    const request = await this.rows.findRequest(project, id, this.clock.date());
    if (!request) throw invalidState();
    return request;
  }

  /** @returns the code that the client exchanges, or the result of a trial @throws AppError 400, 401, 403, 404, 422, 429 */
  async complete(
    { project, origin }: Sender,
    request: SamlRequest,
    samlResponse: string,
  ): Promise<{ readonly code: string } | { readonly tried: ProviderIdentity }> {
    const provider = await this.rows.find(project, { id: request.providerId });
    if (!provider || (!provider.enabled && !isTrial(request))) throw ssoProviderNotFound();
    const issuer = await this.providers.issuerOf(project, provider);
    const given = { samlResponse, requestId: request.id };
    const subject = await this.responses.verify({ project, origin }, this.serviceOf(project), issuer, given);
    await this.spend(project, request, subject);
    const identity = await this.responses.refusing(() => identityOf(provider, subject));
    if (isTrial(request)) return { tried: identity };
    const { account } = await this.identities.accountOf({ project, origin }, identity);
    const { challenge } = request;
    return { code: await this.codes.issue(project, { userId: account.id, method: 'sso/saml', challenge }) };
  }

  /** Neither a request nor an assertion works twice. */
  private async spend(project: Project, { id }: SamlRequest, { assertionHash }: SamlSubject): Promise<void> {
    // Older assertions are refused.
    const until = new Date(this.clock.now() + 2 * LIFETIME_MS);
    const isFirst =
      (await this.rows.spendRequest(project, id)) &&
      (await this.states.useState(project, assertionHash.slice(0, 32), until, this.clock.date()));
    if (!isFirst) throw invalidState();
  }

  private serviceOf({ slug }: Project): SamlService {
    return samlServiceAt(`${this.server.publicUrl}/p/${slug}/auth/v1/sso/saml`);
  }
}

/** Tokens and answers have the custom claims, too. */
function identityOf(
  { id, mapping, domains, ...provider }: SamlProvider,
  subject: SamlSubject,
): ProviderIdentity {
  const identity = fromDirectory(`sso:${id}`, samlUser(provider, subject, mapping, domains));
  const { customClaims = {}, data } = identity;
  return Object.keys(customClaims).length > 0
    ? { ...identity, data: { ...data, custom_claims: customClaims } }
    : identity;
}
