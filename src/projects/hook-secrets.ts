/** Secrets in settings of hooks. They are stored encrypted, for the hook and the address that they are sent to, and never shown. */
import { invalidParameters } from '../common/errors/http-errors';
import { SecretBox } from '../infra/crypto/secret-box';
import type { Project } from './project';
import { type ProjectSettings, type ProjectSettingsInput, SETTINGS } from './project-settings';
import type { HookAddress, HookTarget } from './settings/hook.setting';

export type HookName = Extract<keyof ProjectSettings, `${string}_hook`>;

const NAMES = Object.keys(SETTINGS).filter((name): name is HookName => name.endsWith('_hook'));

/**
 * @param stored an address that stays keeps its secret @param dataSecret of the project
 * @throws AppError 400 for a new address without a secret
 */
export function withSealedHooks(
  change: ProjectSettingsInput,
  stored: ProjectSettingsInput,
  dataSecret: string,
): ProjectSettingsInput {
  return mapHooks(change, (target, name) => {
    const { url, secret } = target;
    if (secret !== undefined)
      return { url, secret: new SecretBox(dataSecret).seal(secret, purposeOf(name, url)).toString('base64') };
    const before = stored[name];
    if (!isAddress(before) || before.url !== url)
      throw invalidParameters(`settings.${name} needs a secret for this url`);
    return before;
  });
}

export const withoutHookSecrets = (settings: ProjectSettings): ProjectSettings =>
  mapHooks(settings, ({ url }) => ({ url }));

/** @throws Error if the stored setting was altered */
export function openHookSecret({ dataSecret }: Project, name: HookName, target: HookAddress): string {
  const sealed = Buffer.from(target.secret ?? '', 'base64');
  return new SecretBox(dataSecret).open(sealed, purposeOf(name, target.url));
}

const purposeOf = (name: HookName, url: string): string => `hook:${name}:${url}`;

export const isAddress = (target: HookTarget | null | undefined): target is HookAddress =>
  typeof target === 'object' && target !== null;

function mapHooks<T extends ProjectSettingsInput>(
  settings: T,
  change: (target: HookAddress, name: HookName) => HookAddress,
): T {
  const changed = NAMES.flatMap((name) => {
    const target = settings[name];
    return isAddress(target) ? [[name, change(target, name)] as const] : [];
  });
  return { ...settings, ...(Object.fromEntries(changed) as Partial<T>) };
}
