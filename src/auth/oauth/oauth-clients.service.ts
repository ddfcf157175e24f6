/**
 * Applications of a project, which administrators make, or which register themselves where a setting allows it. Also checks the
 * proof of who they are.
 */
import { Injectable } from '@nestjs/common';
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { invalidParameters } from '../../common/errors/app-error';
import type { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import type { RequestOrigin, Sender } from '../../identity/request-origin';
import { hashToken, newSecretToken } from '../../identity/secret-token';
import type { Project } from '../../projects/project';
import { type AuditAction, type AuditEntry, byServiceRole } from '../audit/audit-entry';
import {
  assertRedirectUris,
  type AuthMethod,
  authMethodOf,
  type ClientInput,
  GRANT_TYPES,
  isPublic,
  type OAuthClient,
  type Registration,
} from './oauth-client';
import { MAX_CLIENTS, OAuthClientRepository } from './oauth-client.repository';
import {
  clientNotFound,
  invalidClient,
  oauthServerDisabled,
  registrationDisabled,
  tooManyClients,
} from './oauth.errors';

/** A client with its secret, which is shown once; null for a public client. */
export interface NewClient {
  readonly client: OAuthClient;
  readonly secret: string | null;
}

/** What a client says about itself at the token endpoint. */
export interface ClientProof {
  readonly id: string;
  readonly secret: string | null;
  readonly method: AuthMethod;
}

@Injectable()
export class OAuthClients {
  constructor(
    private readonly rows: OAuthClientRepository,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 404 */
  assertEnabled({ settings }: Project): void {
    if (!settings.oauth_server_enabled) throw oauthServerDisabled();
  }

  async list(
    project: Project,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ total: number; clients: OAuthClient[] }> {
    this.assertEnabled(project);
    return this.rows.list(project, page);
  }

  /** @throws AppError 404 */
  async get(project: Project, id: string): Promise<OAuthClient> {
    this.assertEnabled(project);
    const client = await this.rows.find(project, id);
    if (!client) throw clientNotFound();
    return client;
  }

  find(project: Project, id: string): Promise<OAuthClient | null> {
    return this.rows.find(project, id);
  }

  /** @throws AppError 400, 404, 422 */
  async create({ project, origin }: Sender, input: ClientInput): Promise<NewClient> {
    this.assertEnabled(project);
    const made = this.newClient(input, 'manual');
    const entry = this.entry('oauth_client_created', made.client, origin);
    return this.insert(project, made, entry);
  }

  /** @throws AppError 400, 403, 404, 422 */
  async register(project: Project, input: ClientInput): Promise<NewClient> {
    this.assertEnabled(project);
    if (!project.settings.oauth_registration_enabled) throw registrationDisabled();
    return this.insert(project, this.newClient(input, 'dynamic'), null);
  }

  /** @throws AppError 400, 404 */
  async updateClient(from: Sender, id: string, input: ClientInput): Promise<OAuthClient> {
    const client = await this.get(from.project, id);
    const { redirectUris, authMethod } = input;
    if (redirectUris !== undefined) assertRedirectUris(redirectUris);
    if (authMethod !== undefined && (authMethod === 'none') !== isPublic(client))
      throw invalidParameters(
        'A client stays public or confidential: token_endpoint_auth_method does not fit',
      );
    const changed = { ...client, ...membersIn(input), updatedAt: this.clock.date() };
    return this.save(from, changed, 'oauth_client_updated');
  }

  /** The former secret becomes invalid immediately; sessions continue. @throws AppError 400, 404 */
  async regenerateSecret(from: Sender, id: string): Promise<NewClient> {
    const client = await this.get(from.project, id);
    if (isPublic(client)) throw invalidParameters('A public client has no secret');
    const { token, hash } = newSecretToken();
    const changed = { ...client, secretHash: hash, updatedAt: this.clock.date() };
    return { client: await this.save(from, changed, 'oauth_secret_replaced'), secret: token };
  }

  /** @throws AppError 404 */
  async remove({ project, origin }: Sender, id: string): Promise<void> {
    const client = await this.get(project, id);
    const entry = this.entry('oauth_client_removed', client, origin);
    if (!(await this.rows.remove(project, client.id, entry))) throw clientNotFound();
  }

  /** @throws AppError 401, 429 */
  authenticate(from: Sender, proof: ClientProof): Promise<OAuthClient> {
    return this.throttle.attemptOrThrow(from, async () => {
      const client = await this.rows.find(from.project, proof.id);
      if (!client || client.authMethod !== proof.method || !isSecretOf(client, proof.secret))
        throw invalidClient();
      return client;
    });
  }

  private newClient(input: ClientInput, registration: Registration): NewClient {
    assertRedirectUris(input.redirectUris ?? []);
    const authMethod = authMethodOf(input);
    const secret = authMethod === 'none' ? null : newSecretToken();
    const now = this.clock.date();
    const defaults = { name: '', redirectUris: [], grantTypes: GRANT_TYPES, uri: null, logoUri: null };
    const own = { id: randomUUID(), registration, secretHash: secret?.hash ?? null, authMethod };
    const client = { ...defaults, ...membersIn(input), ...own, createdAt: now, updatedAt: now };
    return { client, secret: secret?.token ?? null };
  }

  private async insert(project: Project, made: NewClient, entry: AuditEntry | null): Promise<NewClient> {
    if (!(await this.rows.insert(project, made.client, entry))) throw tooManyClients(MAX_CLIENTS);
    return made;
  }

  private async save(
    { project, origin }: Sender,
    client: OAuthClient,
    action: AuditAction,
  ): Promise<OAuthClient> {
    if (!(await this.rows.updateClient(project, client, this.entry(action, client, origin))))
      throw clientNotFound();
    return client;
  }

  private entry(action: AuditAction, { id, name }: OAuthClient, origin: RequestOrigin): AuditEntry {
    const details: JsonObject = { client_id: id, name };
    return byServiceRole(action, null, { now: this.clock.date(), origin, details });
  }
}

/** The members that the input has. */
function membersIn({ type: _type, ...input }: ClientInput): Partial<OAuthClient> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** In constant time. */
function isSecretOf({ secretHash }: OAuthClient, secret: string | null): boolean {
  if (secretHash === null || secret === null) return secretHash === null && secret === null;
  const given = hashToken(secret);
  return given.length === secretHash.length && timingSafeEqual(given, secretHash);
}
