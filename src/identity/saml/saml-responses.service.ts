/** Sign-in by SAML 2.0: responses are accepted only for a request; a refused response counts as a guess. */
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { type AttributeMapping, claimsOf, type DirectoryUser } from '../directories/attribute-mapping';
import { type GuessOrigin, GuessThrottle } from '../guess-throttle.service';
import { samlFailed } from '../identity.errors';
import { requestOf, type SamlService, type SamlSubject, verifySamlResponse } from './saml-client';
import { parseMetadata, type SamlIssuer } from './saml-metadata';

const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
/** Attribute names that common identity providers use. */
const USUAL = {
  email: ['email', 'mail', 'urn:oid:0.9.2342.19200300.100.1.3', `${CLAIMS}/emailaddress`],
  name: ['name', 'displayName', 'urn:oid:2.16.840.1.113730.3.1.241', `${CLAIMS}/name`, 'cn'],
};

/** @param url the URL of the folder with `metadata` and `acs` */
export const samlServiceAt = (url: string): SamlService => ({
  entityId: `${url}/metadata`,
  acsUrl: `${url}/acs`,
});

@Injectable()
export class SamlResponses {
  private readonly logger = new Logger(SamlResponses.name);

  constructor(
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** The id of the request that a response says it answers. Nothing is verified yet. @throws AppError 401 */
  requestOf(samlResponse: string): Promise<string> {
    return this.refusing(() => requestOf(samlResponse));
  }

  /** @throws AppError 401, 429 */
  verify(
    from: GuessOrigin,
    service: SamlService,
    issuer: SamlIssuer,
    { samlResponse, requestId }: { readonly samlResponse: string; readonly requestId: string },
  ): Promise<SamlSubject> {
    const now = this.clock.now();
    return this.throttle.attemptOrThrow(from, () =>
      this.refusing(() => verifySamlResponse(service, issuer, { samlResponse, requestId, now })),
    );
  }

  /** @throws AppError 401 for metadata that is no longer valid */
  issuerIn(metadataXml: string): Promise<SamlIssuer> {
    return this.refusing(async () => {
      const issuer = await parseMetadata(metadataXml);
      if (issuer.validUntil !== null && issuer.validUntil <= this.clock.date())
        throw new Error('the metadata of the provider is no longer valid');
      return issuer;
    });
  }

  /** The reason goes to the log only. @throws AppError 401 */
  async refusing<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError) throw error;
      this.logger.warn(`A SAML response was refused: ${messageOf(error)}`);
      throw samlFailed(error);
    }
  }
}

/** @param domains whose addresses the provider proves */
export function samlUser(
  { entityId }: Pick<SamlIssuer, 'entityId'>,
  { nameId, nameIdFormat, attributes }: SamlSubject,
  mapping: AttributeMapping,
  domains: readonly string[],
): DirectoryUser {
  const address = nameIdFormat?.endsWith(':emailAddress') === true ? nameId : null;
  return { issuer: entityId, subject: nameId, ...claimsOf(attributes, mapping, USUAL, domains, address) };
}
