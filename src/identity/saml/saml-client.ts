/**
 * A service provider of SAML 2.0 (Web Browser SSO Profile): makes requests, and verifies responses to them. @node-saml verifies the
 * signature and returns what was signed. All other rules are checked here, on the signed assertion only.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isJsonObject } from '../../common/text/json';
import {
  assertPlainXml,
  attributeOf,
  childrenOf,
  MAX_DOCUMENT,
  onlyChild,
  parseDocument,
  textOf,
  type XmlElement,
} from './saml-document';
import type { SamlIssuer } from './saml-metadata';

/** Milliseconds by which clocks may differ. */
const SKEW_MS = 120_000;
/** Maximum age of an assertion in milliseconds. */
const MAX_AGE_MS = 10 * 60_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
/** Maximum elements of a response: verification compares all elements with each other, which takes 40 ms for this many. */
const MAX_TAGS = 1_500;
const MAX_VALUES = 1_000;
const MAX_VALUE = 2_000;

/** All algorithms that a response may name. None hashes with SHA-1, and none keeps comments. */
const ALGORITHMS: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
]);

/** This service provider. */
export interface SamlService {
  readonly entityId: string;
  /** The URL to which responses are sent. */
  readonly acsUrl: string;
}

export interface SamlSubject {
  readonly nameId: string;
  readonly nameIdFormat: string | null;
  readonly attributes: ReadonlyMap<string, readonly string[]>;
  /** Identifies the assertion. */
  readonly assertionHash: string;
}

export async function samlMetadata(service: SamlService): Promise<string> {
  const { generateServiceProviderMetadata } = await import('@node-saml/node-saml');
  return generateServiceProviderMetadata({
    issuer: service.entityId,
    callbackUrl: service.acsUrl,
    identifierFormat: null,
    wantAssertionsSigned: true,
  });
}

/** XML ids begin with a letter or an underscore. */
export const newRequestId = (): string => `_${randomBytes(20).toString('hex')}`;

/** The address of the identity provider's page. @param requestId also the relay state */
export async function samlRequestUrl(
  service: SamlService,
  issuer: SamlIssuer,
  { requestId, nameIdFormat }: { requestId: string; nameIdFormat: string | null },
): Promise<string> {
  const saml = await libraryFor(service, issuer, {
    identifierFormat: nameIdFormat,
    generateUniqueId: () => requestId,
  });
  return saml.getAuthorizeUrlAsync(requestId, undefined, {});
}

/** The request that a response says it answers. Nothing is verified yet. @throws Error for a text that is not a response */
export async function requestOf(samlResponse: string): Promise<string> {
  const xml = decode(samlResponse);
  assertPlainXml(xml, MAX_TAGS);
  const response = await parseDocument(xml, 'Response');
  return attributeOf(response, 'InResponseTo') ?? '';
}

/** @param requestId that the response must answer @param now milliseconds @throws Error with the reason, for the log */
export async function verifySamlResponse(
  service: SamlService,
  issuer: SamlIssuer,
  { samlResponse, requestId, now }: { samlResponse: string; requestId: string; now: number },
): Promise<SamlSubject> {
  const xml = decode(samlResponse);
  assertPlainXml(xml, MAX_TAGS);
  assertAlgorithms(xml);
  const response = await parseDocument(xml, 'Response');
  assertEqual(attributeOf(response, 'Destination') ?? service.acsUrl, service.acsUrl, 'Destination');
  assertEqual(attributeOf(response, 'InResponseTo') ?? requestId, requestId, 'InResponseTo');
  const status = onlyChild(onlyChild(response, 'Status'), 'StatusCode');
  assertEqual(attributeOf(status, 'Value'), SUCCESS, 'StatusCode');
  const saml = await libraryFor(service, issuer, {});
  const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: samlResponse });
  const signed = profile?.getAssertion?.().Assertion;
  if (!isJsonObject(signed)) throw new Error('there is no signed assertion');
  return subjectOf(signed, service, issuer, { requestId, now });
}

function subjectOf(
  assertion: XmlElement,
  service: SamlService,
  issuer: SamlIssuer,
  { requestId, now }: { requestId: string; now: number },
): SamlSubject {
  assertEqual(attributeOf(assertion, 'Version'), '2.0', 'Version');
  assertEqual(textOf(onlyChild(assertion, 'Issuer')), issuer.entityId, 'Issuer');
  const issuedAt = timeOf(assertion, 'IssueInstant');
  if (issuedAt === null || issuedAt > now + SKEW_MS || issuedAt < now - MAX_AGE_MS - SKEW_MS)
    throw new Error('the assertion is too old, or from the future');
  const subject = onlyChild(assertion, 'Subject');
  const isConfirmed = childrenOf(subject, 'SubjectConfirmation').some((confirmation) =>
    isConfirmedBy(confirmation, service.acsUrl, requestId, now),
  );
  if (!isConfirmed) throw new Error('no confirmation matches this request, recipient and time');
  assertConditions(onlyChild(assertion, 'Conditions'), service.entityId, now);
  const statements = childrenOf(assertion, 'AuthnStatement');
  if (statements.length === 0) throw new Error('there is no AuthnStatement');
  for (const one of statements) assertTimely(one, 'SessionNotOnOrAfter', now);
  const name = onlyChild(subject, 'NameID');
  const nameIdFormat = attributeOf(name, 'Format');
  const nameId = textOf(name);
  if (nameId === '' || nameIdFormat === TRANSIENT)
    throw new Error('the NameID is missing or transient, so the next sign-in would give another user');
  const id = `${issuer.entityId} ${attributeOf(assertion, 'ID') ?? ''}`;
  const assertionHash = createHash('sha256').update(id).digest('hex');
  return { nameId, nameIdFormat, attributes: attributesOf(assertion), assertionHash };
}

function isConfirmedBy(confirmation: XmlElement, recipient: string, requestId: string, now: number): boolean {
  const [data] = childrenOf(confirmation, 'SubjectConfirmationData');
  if (!data || attributeOf(confirmation, 'Method') !== BEARER) return false;
  const until = timeOf(data, 'NotOnOrAfter');
  return (
    attributeOf(data, 'Recipient') === recipient &&
    attributeOf(data, 'InResponseTo') === requestId &&
    attributeOf(data, 'NotBefore') === null &&
    until !== null &&
    until > now - SKEW_MS
  );
}

function assertConditions(conditions: XmlElement, audience: string, now: number): void {
  const from = timeOf(conditions, 'NotBefore');
  if (from !== null && from > now + SKEW_MS) throw new Error('the assertion is not valid yet');
  assertTimely(conditions, 'NotOnOrAfter', now);
  const restrictions = childrenOf(conditions, 'AudienceRestriction');
  const isForUs = restrictions.every((one) =>
    childrenOf(one, 'Audience').some((given) => textOf(given) === audience),
  );
  if (restrictions.length === 0 || !isForUs) throw new Error('the assertion is for another audience');
}

function attributesOf(assertion: XmlElement): Map<string, string[]> {
  const attributes = new Map<string, string[]>();
  for (const attribute of childrenOf(assertion, 'AttributeStatement').flatMap((one) =>
    childrenOf(one, 'Attribute'),
  )) {
    const values = childrenOf(attribute, 'AttributeValue').map(textOf);
    const usable = values.filter((value) => value !== '' && value.length <= MAX_VALUE).slice(0, MAX_VALUES);
    for (const name of ['Name', 'FriendlyName']) {
      const known = attributeOf(attribute, name);
      if (known !== null) attributes.set(known, [...(attributes.get(known) ?? []), ...usable]);
    }
  }
  return attributes;
}

async function libraryFor(
  service: SamlService,
  { entryPoint, certificates }: SamlIssuer,
  more: { identifierFormat?: string | null; generateUniqueId?: () => string },
) {
  const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml');
  return new SAML({
    issuer: service.entityId,
    callbackUrl: service.acsUrl,
    entryPoint,
    idpCert: [...certificates],
    // The response or the assertion must be signed.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    // Checked on the signed assertion here, with our clock.
    acceptedClockSkewMs: -1,
    audience: false,
    validateInResponseTo: ValidateInResponseTo.never,
    disableRequestedAuthnContext: true,
    ...more,
  });
}

function decode(samlResponse: string): string {
  if (samlResponse.length > 2 * MAX_DOCUMENT || !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(samlResponse))
    throw new Error('the response is too long, or not in base64');
  return Buffer.from(samlResponse, 'base64').toString('utf8');
}

/** An algorithm that is written in another form is not in ALGORITHMS. */
function assertAlgorithms(xml: string): void {
  for (const [, double, single] of xml.matchAll(/\bAlgorithm\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    const algorithm = double ?? single ?? '';
    if (!ALGORITHMS.has(algorithm))
      throw new Error(`the algorithm ${algorithm.slice(0, 200)} is not accepted`);
  }
}

function assertEqual(given: string | null, wanted: string, what: string): void {
  if (given !== wanted) throw new Error(`${what} is ${JSON.stringify(given?.slice(0, 200))}`);
}

function timeOf(element: XmlElement, name: string): number | null {
  const text = attributeOf(element, name);
  if (text === null) return null;
  // Without a zone, Date would take it as local time.
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text))
    throw new Error(`${name} is not a valid time in UTC`);
  return Date.parse(text);
}

function assertTimely(element: XmlElement, name: string, now: number): void {
  const until = timeOf(element, name);
  if (until !== null && until <= now - SKEW_MS) throw new Error(`${name} has passed`);
}
