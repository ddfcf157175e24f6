/** Secrets in settings. They are stored encrypted, for the setting and the address that they are sent to, and never shown. */
import { invalidParameters } from '../common/errors/app-error';
import { SecretBox } from '../infra/crypto/secret-box';
import type { Project } from './project';
import { type ProjectSettings, type ProjectSettingsInput, SETTINGS } from './project-settings';
import type { HookAddress, HookTarget } from './settings/hook.setting';

export type HookName = Extract<keyof ProjectSettings, `${string}_hook`>;
type SecretName = HookName | 'ldap' | 'captcha';

/** A setting with an address, and with a secret for it. */
interface Addressed {
  readonly url?: string;
  /** Identifies the address if there is no `url`. */
  readonly provider?: string;
  readonly secret?: string;
  readonly bind_password?: string;
}

const NAMES = Object.keys(SETTINGS).filter(
  (name): name is SecretName => name.endsWith('_hook') || name === 'ldap' || name === 'captcha',
);

const memberOf = (name: SecretName): 'secret' | 'bind_password' =>
  name === 'ldap' ? 'bind_password' : 'secret';

/**
 * @param stored the stored settings: an unchanged address keeps its secret
 * @param dataSecret of the project
 * @throws AppError 400 for a new address without a secret
 */
export function withSealedSecrets(
  change: ProjectSettingsInput,
  stored: ProjectSettingsInput,
  dataSecret: string,
): ProjectSettingsInput {
  return mapSecrets(change, (value, name) => {
    const member = memberOf(name);
    const given = value[member];
    if (given !== undefined) {
      const sealed = new SecretBox(dataSecret).seal(given, purposeOf(name, value)).toString('base64');
      return { ...value, [member]: sealed };
    }
    const before = stored[name];
    if (!isAddressed(before) || purposeOf(name, before) !== purposeOf(name, value))
      throw invalidParameters(`settings.${name} needs ${member} for this address`);
    return { ...value, [member]: before[member] };
  });
}

export const withoutSecrets = (settings: ProjectSettings): ProjectSettings =>
  mapSecrets(settings, ({ secret: _secret, bind_password: _password, ...value }) => value);

/** @throws Error if the stored setting was altered */
export function openSettingSecret({ dataSecret }: Project, name: SecretName, value: Addressed): string {
  const sealed = Buffer.from(value[memberOf(name)] ?? '', 'base64');
  return new SecretBox(dataSecret).open(sealed, purposeOf(name, value));
}

const purposeOf = (name: SecretName, { url, provider }: Addressed): string =>
  `hook:${name}:${url ?? provider}`;

export const isAddress = (target: HookTarget | null | undefined): target is HookAddress =>
  typeof target === 'object' && target !== null;

const isAddressed = (value: unknown): value is Addressed => typeof value === 'object' && value !== null;

function mapSecrets<T extends ProjectSettingsInput>(
  settings: T,
  change: (value: Addressed, name: SecretName) => object,
): T {
  const changed = NAMES.flatMap((name) => {
    const value = settings[name];
    return isAddressed(value) ? [[name, change(value, name)] as const] : [];
  });
  return { ...settings, ...(Object.fromEntries(changed) as Partial<T>) };
}
