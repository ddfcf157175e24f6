/** Identity providers of SAML 2.0, and requests to them. Rows are checked: the owner may have written anything. */
import type { QueryResultRow } from 'pg';
import { RecordReader } from '../../database/rows/record-reader';
import { MAX_DOCUMENT } from '../../identity/saml/saml-document';
import type { CodeChallenge } from '../mail/mail-flow';
import { type AttributeMapping, parseMapping } from '../../identity/directories/attribute-mapping';

const PROVIDERS = 'auth.saml_providers';
const REQUESTS = 'auth.saml_requests';

/** Characters. */
const MAX_TEXT = 2_000;
const MAX_MAPPING = 64 * 1024;
const MAX_DOMAINS_TEXT = 64 * 1024;

export const NAME_ID_FORMATS = [
  'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
] as const;

export interface SamlProvider {
  readonly id: string;
  readonly resourceId: string | null;
  readonly enabled: boolean;
  readonly entityId: string;
  readonly metadataXml: string;
  readonly metadataUrl: string | null;
  readonly metadataAt: Date;
  readonly mapping: AttributeMapping;
  readonly nameIdFormat: (typeof NAME_ID_FORMATS)[number] | null;
  readonly domains: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SamlRequest {
  readonly id: string;
  readonly providerId: string;
  readonly redirectTo: string;
  readonly challenge: CodeChallenge;
}

/** The columns of a SamlProvider `p`. */
export const PROVIDER_COLUMNS = `p.id, p.resource_id, p.enabled, p.entity_id, p.metadata_xml, p.metadata_url, p.metadata_at,
  p.attribute_mapping::text as attribute_mapping, p.name_id_format, p.created_at, p.updated_at,
  (select coalesce(pg_catalog.string_agg(d.domain, ' ' order by d.domain), '') from auth.saml_domains d
    where d.provider_id = p.id) as domains`;

/** @throws AppError 500 for a value that the column cannot hold */
export function toSamlProvider(row: QueryResultRow): SamlProvider {
  const record = new RecordReader(PROVIDERS, row);
  const mapping = parseMapping(record.jsonObject('attribute_mapping', MAX_MAPPING));
  if (!mapping) throw record.unusable('attribute_mapping', 'an object with keys');
  return {
    id: record.uuid('id'),
    resourceId: record.textOrNull('resource_id', MAX_TEXT),
    enabled: record.boolean('enabled'),
    entityId: record.text('entity_id', MAX_TEXT),
    metadataXml: record.text('metadata_xml', MAX_DOCUMENT),
    metadataUrl: record.textOrNull('metadata_url', MAX_TEXT),
    metadataAt: record.date('metadata_at'),
    mapping,
    nameIdFormat: record.isNull('name_id_format') ? null : record.oneOf('name_id_format', NAME_ID_FORMATS),
    domains: record.text('domains', MAX_DOMAINS_TEXT).split(' ').filter(Boolean),
    createdAt: record.date('created_at'),
    updatedAt: record.date('updated_at'),
  };
}

/** @throws AppError 500 for a value that the column cannot hold */
export function toSamlRequest(row: QueryResultRow): SamlRequest {
  const record = new RecordReader(REQUESTS, row);
  return {
    id: record.text('id', MAX_TEXT),
    providerId: record.uuid('provider_id'),
    redirectTo: record.text('redirect_to', 2 * MAX_TEXT),
    challenge: {
      challenge: record.text('code_challenge', 200),
      method: record.oneOf('code_challenge_method', ['s256', 'plain']),
    },
  };
}
