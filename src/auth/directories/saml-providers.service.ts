/** Identity providers of SAML 2.0 as administrators manage them. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { UUID } from '../../common/text/uuid';
import { messageOf } from '../../common/errors/error-facts';
import { invalidParameters } from '../../common/errors/app-error';
import { Clock } from '../../common/time/clock';
import type { Sender } from '../../identity/request-origin';
import { MAX_DOCUMENT } from '../../identity/saml/saml-document';
import { parseMetadata, type SamlIssuer } from '../../identity/saml/saml-metadata';
import { SamlResponses } from '../../identity/saml/saml-responses.service';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import type { Project } from '../../projects/project';
import { byServiceRole } from '../audit/audit-entry';
import { metadataUnreachable, providerNotFound } from '../auth.errors';
import { parseMapping } from '../../identity/directories/attribute-mapping';
import type { SamlProvider } from './saml-provider';
import { MAX_SAML_PROVIDERS, SamlProviderRepository } from './saml-provider.repository';

/** Milliseconds after which metadata of an address is read again. */
const METADATA_MS = 24 * 3_600_000;
const MAX_DOMAINS = 100;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;

/** Absent members keep their values. */
export interface SamlProviderInput {
  readonly resourceId?: string | null;
  readonly disabled?: boolean;
  readonly metadataUrl?: string;
  readonly metadataXml?: string;
  readonly domains?: readonly string[];
  readonly mapping?: unknown;
  readonly nameIdFormat?: SamlProvider['nameIdFormat'];
}

@Injectable()
export class SamlProviders {
  constructor(
    private readonly providers: SamlProviderRepository,
    private readonly http: OutboundHttp,
    private readonly responses: SamlResponses,
    private readonly clock: Clock,
  ) {}

  list(project: Project): Promise<SamlProvider[]> {
    return this.providers.list(project);
  }

  /** @throws AppError 404 */
  async get(project: Project, id: string): Promise<SamlProvider> {
    const found = UUID.test(id) ? await this.providers.find(project, { id }) : null;
    if (!found) throw providerNotFound();
    return found;
  }

  /** @param id null for a new provider @throws AppError 400, 404, 422 */
  async save(
    { project, origin }: Sender,
    id: string | null,
    input: SamlProviderInput,
  ): Promise<SamlProvider> {
    const old = id === null ? null : await this.get(project, id);
    if (input.metadataUrl !== undefined && input.metadataXml !== undefined)
      throw invalidParameters('Only one of metadata_xml or metadata_url needs to be set');
    const metadataUrl =
      input.metadataXml === undefined ? (input.metadataUrl ?? old?.metadataUrl ?? null) : null;
    const metadataXml =
      input.metadataUrl === undefined
        ? (input.metadataXml ?? old?.metadataXml)
        : await this.read(input.metadataUrl);
    if (metadataXml === undefined) throw invalidParameters('Either metadata_xml or metadata_url must be set');
    const { entityId } = await this.issuerIn(metadataXml);
    const mapping =
      input.mapping === undefined ? (old?.mapping ?? { keys: {} }) : parseMapping(input.mapping);
    if (!mapping)
      throw invalidParameters('attribute_mapping must be {keys: {<claim>: {name, names, array, default}}}');
    const now = this.clock.date();
    const isRead = input.metadataUrl !== undefined || input.metadataXml !== undefined;
    const provider = {
      id: old?.id ?? randomUUID(),
      resourceId: input.resourceId === undefined ? (old?.resourceId ?? null) : input.resourceId,
      enabled: input.disabled === undefined ? (old?.enabled ?? true) : !input.disabled,
      entityId,
      metadataXml,
      metadataUrl,
      metadataAt: isRead || !old ? now : old.metadataAt,
      mapping,
      nameIdFormat: input.nameIdFormat === undefined ? (old?.nameIdFormat ?? null) : input.nameIdFormat,
      domains: input.domains === undefined ? (old?.domains ?? []) : toDomains(input.domains),
    };
    const details = { provider: `sso:${provider.id}` };
    const entry = byServiceRole('provider_saved', null, { now, origin, details });
    const saved = await this.providers.save(project, provider, entry);
    if (!saved) throw invalidParameters(`A project has at most ${MAX_SAML_PROVIDERS} providers`);
    return saved;
  }

  /** @throws AppError 404 */
  async remove({ project, origin }: Sender, id: string): Promise<SamlProvider> {
    const provider = await this.get(project, id);
    const details = { provider: `sso:${provider.id}` };
    const context = { now: this.clock.date(), origin, details };
    const entry = byServiceRole('provider_removed', null, context);
    if (!(await this.providers.remove(project, provider.id, entry))) throw providerNotFound();
    return provider;
  }

  /**
   * The parsed metadata. It is read again from its address once a day, because certificates change. If that fails, the stored
   * metadata counts until its validUntil.
   * @throws AppError 401 for metadata that is not valid any more
   */
  async issuerOf(project: Project, provider: SamlProvider): Promise<SamlIssuer> {
    const { id, metadataUrl, metadataAt, metadataXml, entityId } = provider;
    const now = this.clock.now();
    if (metadataUrl !== null && now - metadataAt.getTime() > METADATA_MS) {
      const xml = await this.read(metadataUrl).catch(() => metadataXml);
      const issuer = await parseMetadata(xml).catch(() => null);
      // Another entity would be another issuer of identities.
      const isUsable = issuer?.entityId === entityId;
      await this.providers.replaceMetadata(project, id, isUsable ? xml : metadataXml, new Date(now));
      if (isUsable) return this.responses.issuerIn(xml);
    }
    return this.responses.issuerIn(metadataXml);
  }

  /** @throws AppError 400 */
  private async issuerIn(xml: string): Promise<SamlIssuer> {
    const issuer = await parseMetadata(xml).catch((error: unknown) => {
      throw invalidParameters(`The metadata cannot be used: ${messageOf(error)}`);
    });
    const page = new URL(issuer.entryPoint);
    if (page.protocol !== 'https:' && !this.http.isAllowed(page))
      throw invalidParameters(
        'The page of the provider must use https, unless AUTH_ALLOWED_HOSTS names its host',
      );
    return issuer;
  }

  /** @throws AppError 400 */
  private async read(url: string): Promise<string> {
    const answer = await this.http.send(url, {}, { maxBytes: MAX_DOCUMENT }).catch((error: unknown) => {
      throw metadataUnreachable(error);
    });
    if (answer.status !== 200) throw metadataUnreachable(new Error(`status ${answer.status}`));
    return answer.text();
  }
}

function toDomains(given: readonly string[]): string[] {
  const domains = [...new Set(given.map((one) => one.toLowerCase()))];
  const wrong = domains.find((one) => !DOMAIN.test(one));
  if (wrong !== undefined)
    throw invalidParameters(`domains has ${JSON.stringify(wrong)}, which is not a domain`);
  if (domains.length > MAX_DOMAINS) throw invalidParameters(`domains has more than ${MAX_DOMAINS} entries`);
  return domains;
}
