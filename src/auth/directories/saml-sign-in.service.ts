/**
 * Sign-in at an identity provider of SAML 2.0. Only a response to a request of ours is accepted, once, and it leads to a code that
 * the client who began exchanges with its PKCE verifier: nobody is signed in to an account that somebody else chose.
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { AppError } from '../../common/errors/app-error';
import { messageOf } from '../../common/errors/error-facts';
import { invalidParameters } from '../../common/errors/http-errors';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { isDomainAllowed, parseEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import type { RequestOrigin } from '../../identity/request-origin';
import {
  requestOf,
  samlMetadata,
  samlRequestUrl,
  type SamlService,
  type SamlSubject,
  verifySamlResponse,
} from '../../identity/saml/saml-client';
import type { Project } from '../../projects/project';
import { claimsTooLarge, invalidState, noRedirect, samlFailed, ssoProviderNotFound } from '../auth.errors';
import { CodeExchange } from '../codes/code-exchange.service';
import type { CodeChallenge } from '../mail/mail-flow';
import { IdentitiesService } from '../providers/identities.service';
import { IdentityRepository } from '../providers/identity.repository';
import { type ProviderIdentity, toProviderIdentity } from '../providers/provider-identity';
import { mapAttributes, MAX_CUSTOM_CLAIMS } from './attribute-mapping';
import type { SamlProvider, SamlRequest } from './saml-provider';
import { SamlProviderRepository } from './saml-provider.repository';
import { SamlProviders } from './saml-providers.service';

/** Milliseconds. */
const LIFETIME_MS = 10 * 60_000;
const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
/** Attributes of common identity providers. */
const USUAL = {
  email: ['email', 'mail', 'urn:oid:0.9.2342.19200300.100.1.3', `${CLAIMS}/emailaddress`],
  name: ['name', 'displayName', 'urn:oid:2.16.840.1.113730.3.1.241', `${CLAIMS}/name`, 'cn'],
};

export interface SamlRequestInput {
  readonly by: { readonly id: string } | { readonly domain: string };
  /** Allowed by the project; null: none is. */
  readonly redirectTo: string | null;
  readonly challenge: CodeChallenge | null;
}

@Injectable()
export class SamlSignIn {
  private readonly logger = new Logger(SamlSignIn.name);

  constructor(
    private readonly rows: SamlProviderRepository,
    private readonly providers: SamlProviders,
    private readonly identities: IdentitiesService,
    private readonly states: IdentityRepository,
    private readonly codes: CodeExchange,
    private readonly throttle: GuessThrottle,
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
    const issuer = await this.refusing(() => this.providers.issuerOf(project, provider));
    // Ids of XML begin with a letter or an underscore.
    const id = `_${randomBytes(20).toString('hex')}`;
    const url = await samlRequestUrl(this.serviceOf(project), issuer, {
      requestId: id,
      nameIdFormat: provider.nameIdFormat,
    });
    const request = { id, providerId: provider.id, redirectTo, challenge };
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.rows.insertRequest(project, request, this.now(), expiresAt);
    return url;
  }

  /** The request that a response answers. @throws AppError 400, 401 */
  async open(project: Project, samlResponse: string): Promise<SamlRequest> {
    const id = await this.refusing(() => requestOf(samlResponse));
    const request = await this.rows.findRequest(project, id, this.now());
    if (!request) throw invalidState();
    return request;
  }

  /** @returns the code that the client exchanges @throws AppError 400, 401, 403, 404, 422, 429 */
  async complete(
    project: Project,
    request: SamlRequest,
    samlResponse: string,
    origin: RequestOrigin,
  ): Promise<string> {
    const provider = await this.rows.find(project, { id: request.providerId });
    if (!provider?.enabled) throw ssoProviderNotFound();
    const issuer = await this.refusing(() => this.providers.issuerOf(project, provider));
    const fault: unknown[] = [];
    const subject = await this.throttle.attemptFrom({ project, origin }, () =>
      this.refusing(() =>
        verifySamlResponse(this.serviceOf(project), issuer, {
          samlResponse,
          requestId: request.id,
          now: this.clock.now(),
        }),
      ).catch((error: unknown) => {
        fault.push(error);
        return null;
      }),
    );
    if (!subject) throw fault[0];
    await this.spend(project, request, subject);
    const identity = await this.refusing(() => Promise.resolve(identityOf(provider, subject)));
    const { account } = await this.identities.accountOf(project, identity, origin);
    const { challenge } = request;
    return this.codes.issue(project, { userId: account.id, method: 'sso/saml', challenge });
  }

  /** Neither a request nor an assertion works twice. */
  private async spend(project: Project, { id }: SamlRequest, { assertionHash }: SamlSubject): Promise<void> {
    // No assertion is accepted when it is older.
    const until = new Date(this.clock.now() + 2 * LIFETIME_MS);
    const isFirst =
      (await this.rows.spendRequest(project, id)) &&
      (await this.states.useState(project, assertionHash.slice(0, 32), until, this.now()));
    if (!isFirst) throw invalidState();
  }

  /** The reason goes to the log only. */
  private async refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError) throw error;
      this.logger.warn(`A SAML response was refused: ${messageOf(error)}`);
      throw samlFailed(error);
    }
  }

  private serviceOf({ slug }: Project): SamlService {
    const base = `${this.server.publicUrl}/p/${slug}/auth/v1/sso/saml`;
    return { entityId: `${base}/metadata`, acsUrl: `${base}/acs` };
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

/** The provider proves addresses of its domains: an administrator has assigned them to it. */
function identityOf(
  { id, entityId, domains, mapping }: SamlProvider,
  { nameId, nameIdFormat, attributes }: SamlSubject,
): ProviderIdentity {
  const { personal, custom } = mapAttributes(attributes, mapping, USUAL);
  const isAddress = nameIdFormat?.endsWith(':emailAddress') ?? false;
  const given = personal.email ?? (isAddress ? nameId : null);
  const email = typeof given === 'string' ? parseEmailAddress(given) : null;
  const isProved = email !== null && domains.length > 0 && isDomainAllowed(email, domains);
  if (Buffer.byteLength(JSON.stringify(custom)) > MAX_CUSTOM_CLAIMS) throw claimsTooLarge(MAX_CUSTOM_CLAIMS);
  const claims = { ...personal, email: email?.address ?? null, email_verified: isProved };
  const identity = toProviderIdentity(`sso:${id}`, { ...claims, iss: entityId, sub: nameId });
  return {
    ...identity,
    data: Object.keys(custom).length > 0 ? { ...identity.data, custom_claims: custom } : identity.data,
    customClaims: custom,
  };
}
