/** Reads what a sign-in needs from the metadata of an identity provider (SAML 2.0 metadata). */
import { X509Certificate } from 'node:crypto';
import { attributeOf, childrenOf, parseDocument, textOf, withoutComments } from './saml-document';

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const MAX_ENTITY_ID = 1_000;
const MAX_CERTIFICATES = 10;
/** Minimum number of bits of an RSA key. */
const MIN_KEY = 2_048;

export interface SamlIssuer {
  readonly entityId: string;
  /** The URL to which browsers are sent. */
  readonly entryPoint: string;
  /** PEM. */
  readonly certificates: readonly string[];
  readonly validUntil: Date | null;
}

/** @throws Error with a message for administrators */
export async function parseMetadata(xml: string): Promise<SamlIssuer> {
  const descriptor = await parseDocument(withoutComments(xml), 'EntityDescriptor');
  const entityId = attributeOf(descriptor, 'entityID') ?? '';
  if (entityId === '' || entityId.length > MAX_ENTITY_ID) throw new Error('entityID is missing or too long');
  const [role] = childrenOf(descriptor, 'IDPSSODescriptor');
  if (!role) throw new Error('there is no IDPSSODescriptor');
  const services = childrenOf(role, 'SingleSignOnService');
  const service = services.find((one) => attributeOf(one, 'Binding') === REDIRECT);
  const entryPoint = (service && attributeOf(service, 'Location')) ?? '';
  if (!URL.canParse(entryPoint)) throw new Error('there is no SingleSignOnService with HTTP-Redirect');
  const certificates = childrenOf(role, 'KeyDescriptor')
    .filter((key) => (attributeOf(key, 'use') ?? 'signing') === 'signing')
    .flatMap((key) => childrenOf(key, 'KeyInfo'))
    .flatMap((info) => childrenOf(info, 'X509Data'))
    .flatMap((data) => childrenOf(data, 'X509Certificate'))
    .slice(0, MAX_CERTIFICATES)
    .map((certificate) => toPem(textOf(certificate)));
  if (certificates.length === 0) throw new Error('there is no certificate for signing');
  const until = attributeOf(descriptor, 'validUntil');
  if (until !== null && Number.isNaN(Date.parse(until))) throw new Error('validUntil is not a valid time');
  return { entityId, entryPoint, certificates, validUntil: until === null ? null : new Date(until) };
}

function toPem(base64: string): string {
  const certificate = new X509Certificate(Buffer.from(base64, 'base64'));
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
  if (type !== 'rsa' || (details?.modulusLength ?? 0) < MIN_KEY)
    throw new Error(`the key of a certificate must be RSA with at least ${MIN_KEY} bits`);
  return certificate.toString();
}
