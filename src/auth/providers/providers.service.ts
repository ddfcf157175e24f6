/** Providers as administrators manage them. A secret is encrypted for the provider and the addresses it is sent to, and never shown again. */
import { Injectable } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { Clock } from '../../common/time/clock';
import type { Sender } from '../../identity/request-origin';
import { SecretBox } from '../../infra/crypto/secret-box';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import type { Project } from '../../projects/project';
import { byServiceRole } from '../audit/audit-entry';
import { providerNotFound, secretNeeded } from '../auth.errors';
import {
  issuerOf,
  isReserved,
  NO_SETTINGS,
  Preset,
  PRESETS,
  Provider,
  PROVIDER_NAME,
  ProviderSettings,
} from './provider';
import { MAX_PROVIDERS, ProviderRepository } from './provider.repository';

export interface ProviderInput {
  /** Default: the name, if it is that of a preset, else `oidc`. */
  readonly preset?: Preset;
  readonly enabled?: boolean;
  readonly settings: Partial<ProviderSettings>;
  /** Absent: the stored secret is kept, if the addresses are unchanged. */
  readonly secret?: string;
}

@Injectable()
export class ProvidersService {
  constructor(
    private readonly providers: ProviderRepository,
    private readonly http: OutboundHttp,
    private readonly clock: Clock,
  ) {}

  list(project: Project): Promise<Provider[]> {
    return this.providers.list(project);
  }

  /** @throws AppError 404 */
  async get(project: Project, name: string): Promise<Provider> {
    const found = PROVIDER_NAME.test(name) ? await this.providers.find(project, name) : null;
    if (!found) throw providerNotFound();
    return found;
  }

  /** Creates or changes a provider: absent members keep their values. @throws AppError 400 */
  async save({ project, origin }: Sender, name: string, input: ProviderInput): Promise<Provider> {
    if (!PROVIDER_NAME.test(name) || isReserved(name))
      throw invalidParameters('name must begin with a letter and have at most 63 of a-z, 0-9, _, : and -');
    const old = await this.providers.find(project, name);
    const preset = input.preset ?? old?.preset ?? PRESETS.find((one) => one === name) ?? 'oidc';
    const settings = { ...NO_SETTINGS, ...old?.settings, ...withoutUndefined(input.settings) };
    if (!settings.client_id) throw invalidParameters('client_id is required');
    const provider = { name, preset, enabled: input.enabled ?? old?.enabled ?? true, settings };
    this.assertIssuer(issuerOf(provider));
    const sealedSecret =
      input.secret === undefined
        ? keptSecret(old, provider)
        : new SecretBox(project.dataSecret).seal(input.secret, purposeOf(provider));
    const now = this.clock.date();
    const entry = byServiceRole('provider_saved', null, { now, origin, details: { provider: name } });
    const saved = await this.providers.save(project, { ...provider, sealedSecret }, entry);
    if (!saved) throw invalidParameters(`A project has at most ${MAX_PROVIDERS} providers`);
    return saved;
  }

  /** @throws AppError 404 */
  async remove({ project, origin }: Sender, name: string): Promise<void> {
    const now = this.clock.date();
    const entry = byServiceRole('provider_removed', null, { now, origin, details: { provider: name } });
    const isGone = PROVIDER_NAME.test(name) && (await this.providers.remove(project, name, entry));
    if (!isGone) throw providerNotFound();
  }

  private assertIssuer(issuer: string): void {
    const url = URL.canParse(issuer) ? new URL(issuer) : null;
    const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
    if (!url || !isPlain || !/^https?:$/.test(url.protocol))
      throw invalidParameters('issuer must be an address without user, query and fragment');
    if (url.protocol === 'http:' && !this.http.isAllowed(url))
      throw invalidParameters('issuer must use https, unless AUTH_ALLOWED_HOSTS names its host');
  }
}

type Sealed = Pick<Provider, 'name' | 'preset' | 'settings'>;

/** A staff member who may point a provider to another server must not get the secret there. */
const purposeOf = (provider: Sealed): string =>
  `provider:${provider.name}:${provider.preset}:${issuerOf(provider)}`;

function keptSecret(old: Provider | null, provider: Sealed): Buffer | null {
  if (!old?.sealedSecret) return null;
  if (purposeOf(old) !== purposeOf(provider)) throw secretNeeded();
  return old.sealedSecret;
}

/** @throws Error if the row was moved, or the addresses changed without the service */
export function openSecret(project: Project, provider: Provider): string | null {
  const { sealedSecret } = provider;
  return sealedSecret && new SecretBox(project.dataSecret).open(sealedSecret, purposeOf(provider));
}

function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
