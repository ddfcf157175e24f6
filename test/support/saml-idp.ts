/**
 * A SAML 2.0 identity provider: metadata, and responses to the requests of Plinth, signed with xml-crypto. A test can
 * change everything in a response, including where it is signed.
 */
import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { generate } from 'selfsigned';
import { SignedXml } from 'xml-crypto';

const MINUTE = 60_000;
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

export interface SamlFacts {
  readonly nameId?: string;
  readonly nameIdFormat?: string;
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  readonly issuer?: string;
  readonly audience?: string;
  readonly recipient?: string;
  readonly destination?: string;
  readonly inResponseTo?: string;
  readonly assertionId?: string;
  readonly status?: string;
  readonly confirmation?: string;
  /** Milliseconds by which the provider's clock is ahead. */
  readonly ahead?: number;
  readonly withoutConditions?: boolean;
}

export interface SamlSigning {
  readonly what?: 'assertion' | 'response' | 'nothing';
  readonly signature?: string;
  readonly digest?: string;
  readonly canonicalization?: string;
}

/** The request in the address of the provider's page. */
export interface SamlRequestSeen {
  readonly id: string;
  readonly acsUrl: string;
  readonly issuer: string;
  readonly relayState: string;
}

export class SamlIdp {
  private constructor(
    readonly entityId: string,
    readonly page: string,
    private readonly now: () => number,
    private readonly key: string,
    private readonly certificate: string,
  ) {}

  static async create(entityId: string, page: string, now: () => number): Promise<SamlIdp> {
    const pair = await generate([{ name: 'commonName', value: 'idp' }], {
      keySize: 2048,
      algorithm: 'sha256',
    });
    return new SamlIdp(entityId, page, now, pair.private, pair.cert);
  }

  metadata(more = ''): string {
    const base64 = this.certificate.replaceAll(/-----[^-]+-----|\s/g, '');
    return `<?xml version="1.0"?>
      <!-- kept by people -->
      <md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${this.entityId}" ${more}>
        <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
          <md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
            <ds:X509Data><ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
          <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${this.page}"/>
        </md:IDPSSODescriptor>
      </md:EntityDescriptor>`;
  }

  static requestIn(address: string): SamlRequestSeen {
    const { searchParams } = new URL(address);
    const xml = inflateRawSync(Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
    return {
      id: / ID="([^"]+)"/.exec(xml)?.[1] ?? '',
      acsUrl: /AssertionConsumerServiceURL="([^"]+)"/.exec(xml)?.[1] ?? '',
      issuer: /<saml:Issuer[^>]*>([^<]+)</.exec(xml)?.[1] ?? '',
      relayState: searchParams.get('RelayState') ?? '',
    };
  }

  /** XML of a response. */
  response(request: SamlRequestSeen, facts: SamlFacts = {}, signing: SamlSigning = {}): string {
    const at = (offset: number): string => new Date(this.now() + (facts.ahead ?? 0) + offset).toISOString();
    const assertion = this.assertion(request, facts, at);
    const signedAssertion =
      (signing.what ?? 'assertion') === 'assertion' ? this.sign(assertion, 'Assertion', signing) : assertion;
    const status = facts.status ?? 'urn:oasis:names:tc:SAML:2.0:status:Success';
    const response = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${random()}" Version="2.0" IssueInstant="${at(0)}" Destination="${facts.destination ?? request.acsUrl}" InResponseTo="${facts.inResponseTo ?? request.id}"><saml:Issuer>${facts.issuer ?? this.entityId}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status>${signedAssertion}</samlp:Response>`;
    return signing.what === 'response' ? this.sign(response, 'Response', signing) : response;
  }

  private assertion(request: SamlRequestSeen, facts: SamlFacts, at: (offset: number) => string): string {
    const format = facts.nameIdFormat ?? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
    const attributes = Object.entries(facts.attributes ?? {})
      .map(
        ([name, values]) =>
          `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${escape(value)}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
      )
      .join('');
    const conditions = `<saml:Conditions NotBefore="${at(-MINUTE)}" NotOnOrAfter="${at(5 * MINUTE)}"><saml:AudienceRestriction><saml:Audience>${facts.audience ?? request.issuer}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`;
    return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${facts.assertionId ?? `_${random()}`}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${facts.issuer ?? this.entityId}</saml:Issuer><saml:Subject><saml:NameID Format="${format}">${escape(facts.nameId ?? 'nobody')}</saml:NameID><saml:SubjectConfirmation Method="${facts.confirmation ?? 'urn:oasis:names:tc:SAML:2.0:cm:bearer'}"><saml:SubjectConfirmationData InResponseTo="${facts.inResponseTo ?? request.id}" Recipient="${facts.recipient ?? request.acsUrl}" NotOnOrAfter="${at(5 * MINUTE)}"/></saml:SubjectConfirmation></saml:Subject>${facts.withoutConditions ? '' : conditions}<saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="_${random()}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${attributes === '' ? '' : `<saml:AttributeStatement>${attributes}</saml:AttributeStatement>`}</saml:Assertion>`;
  }

  private sign(xml: string, element: string, signing: SamlSigning): string {
    const signer = new SignedXml({
      privateKey: this.key,
      publicCert: this.certificate,
      signatureAlgorithm: signing.signature ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      canonicalizationAlgorithm: EXCLUSIVE,
    });
    signer.addReference({
      xpath: `/*[local-name(.)='${element}']`,
      transforms: [ENVELOPED, signing.canonicalization ?? EXCLUSIVE],
      digestAlgorithm: signing.digest ?? 'http://www.w3.org/2001/04/xmlenc#sha256',
    });
    const location = {
      reference: `/*[local-name(.)='${element}']/*[local-name(.)='Issuer']`,
      action: 'after',
    } as const;
    signer.computeSignature(xml, { location });
    return signer.getSignedXml();
  }
}

const random = (): string => randomBytes(16).toString('hex');

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
