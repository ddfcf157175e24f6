/** The SAML 2.0 identity provider that STAFF_SIGN_IN names. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import {
  SECRETS_CONFIG,
  SecretsConfig,
  SERVER_CONFIG,
  ServerConfig,
  STAFF_CONFIG,
  StaffConfig,
} from '../../config/app-config';
import { ConfigError } from '../../config/load-config';
import { parseMapping } from '../../identity/directories/attribute-mapping';
import { samlFailed } from '../../identity/identity.errors';
import { toDirectoryIdentity } from '../../identity/oidc/issued-identity';
import type { RequestOrigin } from '../../identity/request-origin';
import {
  newRequestId,
  samlMetadata,
  samlRequestUrl,
  type SamlService,
} from '../../identity/saml/saml-client';
import { MAX_DOCUMENT } from '../../identity/saml/saml-document';
import { parseMetadata } from '../../identity/saml/saml-metadata';
import { SamlResponses, samlServiceAt, samlUser } from '../../identity/saml/saml-responses.service';
import { SecretBox } from '../../infra/crypto/secret-box';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import { STAFF_GUESSES } from '../accounts/staff-member';
import { samlUnreachable, wayUnused } from '../staff.errors';
import type { ProvedIdentity } from './identity-accounts.service';

/** Milliseconds after which the metadata is read again: after a success, and after a failure. */
const METADATA_MS = 24 * 3_600_000;
const RETRY_MS = 15_000;
/** Seals responses, which the browser carries without cookies from the address for responses to the end of the sign-in. */
const PURPOSE = 'staff-saml-answer';
const GROUPS = { groups: { name: 'groups', array: true } };

interface Answer {
  readonly requestId: string;
  readonly identity: ProvedIdentity;
}

@Injectable()
export class StaffSaml {
  private readonly logger = new Logger(StaffSaml.name);
  private readonly service: SamlService;
  private readonly box: SecretBox;
  private xml: string | null = null;
  private reading: Promise<void> | null = null;
  private readAgainAt = 0;

  constructor(
    private readonly responses: SamlResponses,
    private readonly clock: Clock,
    @Inject(STAFF_CONFIG) private readonly config: StaffConfig,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
    @Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig,
  ) {
    this.service = samlServiceAt(`${publicUrl}/admin/v1/session/saml`);
    this.box = new SecretBox(masterKey, otherMasterKey);
    if (config.saml && !parseMapping(config.saml.mapping ?? { keys: {} }))
      throw new ConfigError([
        'STAFF_SIGN_IN: attribute_mapping of saml must be {keys: {<claim>: {name, names, array}}}',
      ]);
  }

  /** The text on the sign-in page: the host of the metadata, or `SAML`; null without SAML. */
  get title(): string | null {
    const source = this.config.saml?.metadata;
    if (source === undefined) return null;
    return URL.canParse(source) ? new URL(source).host : 'SAML';
  }

  /** The metadata of Plinth, for the provider. @throws AppError 404 without SAML */
  metadata(): Promise<string> {
    this.required();
    return samlMetadata(this.service);
  }

  /** @returns the provider's page @throws AppError 401 for unusable metadata, 404 without SAML, 503 if there is no metadata */
  async begin(): Promise<{ url: string; requestId: string }> {
    const issuer = await this.responses.issuerIn(await this.readMetadata());
    const requestId = newRequestId();
    return { url: await samlRequestUrl(this.service, issuer, { requestId, nameIdFormat: null }), requestId };
  }

  /**
   * Verifies a response, which comes without cookies.
   * @returns the sealed response, for finish()
   * @throws AppError 401 for a response that is not valid, 404 without SAML, 429 for too many attempts, 503 if there is no
   *   metadata
   */
  async receive(samlResponse: string, origin: RequestOrigin): Promise<string> {
    const { domains, mapping, roles } = this.required();
    const requestId = await this.responses.requestOf(samlResponse);
    const issuer = await this.responses.issuerIn(await this.readMetadata());
    const from = { project: STAFF_GUESSES, origin };
    const subject = await this.responses.verify(from, this.service, issuer, { samlResponse, requestId });
    const keys = { ...GROUPS, ...parseMapping(mapping ?? { keys: {} })?.keys };
    const user = samlUser(issuer, subject, { keys }, domains);
    const identity = await this.responses.refusing(() => toDirectoryIdentity('saml', user));
    // Groups that give no role are left out, because the result becomes part of a URL.
    const groups = identity.groups.filter((group) => Object.hasOwn(roles, group));
    return this.box.sealToken({ requestId, identity: { ...identity, groups } }, PURPOSE);
  }

  /** @param requestId of the sign-in that this browser began @throws AppError 401 for another sign-in, 404 without SAML */
  finish(sealed: string, requestId: string): ProvedIdentity {
    const { roles } = this.required();
    const answer = this.box.openToken<Answer>(sealed, PURPOSE);
    if (answer?.requestId !== requestId) throw samlFailed();
    return { ...answer.identity, way: 'saml', roles };
  }

  /**
   * While the source fails, the metadata that was read before is used.
   * @throws AppError 404 without SAML, 503 if no metadata was read before
   */
  private async readMetadata(): Promise<string> {
    const { metadata } = this.required();
    if (this.clock.now() >= this.readAgainAt) {
      this.readAgainAt = this.clock.now() + RETRY_MS;
      this.reading = load(metadata).then(
        (xml) => {
          this.xml = xml;
          this.readAgainAt = this.clock.now() + METADATA_MS;
        },
        (error: unknown) =>
          this.logger.warn(`The metadata of saml in STAFF_SIGN_IN cannot be used: ${messageOf(error)}`),
      );
    }
    await this.reading;
    if (this.xml === null) throw samlUnreachable();
    return this.xml;
  }

  private required(): NonNullable<StaffConfig['saml']> {
    if (!this.config.saml) throw wayUnused('saml');
    return this.config.saml;
  }
}

async function load(source: string): Promise<string> {
  const xml = URL.canParse(source) ? await fetchText(new URL(source)) : await readFile(source, 'utf8');
  await parseMetadata(xml);
  return xml;
}

async function fetchText(url: URL): Promise<string> {
  const answer = await OutboundHttp.toHostOf(url).send(url, {}, { maxBytes: MAX_DOCUMENT });
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  return answer.text();
}
