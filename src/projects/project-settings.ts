/** The settings of a project, composed of the settings of all features. Only values that were set are stored. */
import { invalidParameters } from '../common/errors/app-error';
import { AUTH_SETTINGS } from './settings/auth.settings';
import { QUOTA_SETTINGS } from './settings/quota.settings';
import { REALTIME_SETTINGS } from './settings/realtime.settings';
import { REST_SETTINGS } from './settings/rest.settings';
import type { Setting } from './settings/setting';
import { inputClass, outputClass } from './settings/settings-classes';
import { STORAGE_SETTINGS } from './settings/storage.settings';

/** Declarations by name. */
export const SETTINGS = {
  ...REST_SETTINGS,
  ...AUTH_SETTINGS,
  ...STORAGE_SETTINGS,
  ...REALTIME_SETTINGS,
  ...QUOTA_SETTINGS,
};

type Name = keyof typeof SETTINGS;
type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** All settings, including defaults. */
export type ProjectSettings = { readonly [N in Name]: ValueOf<(typeof SETTINGS)[N]> };
export const ProjectSettings = outputClass<ProjectSettings>('ProjectSettings', SETTINGS);

/** A sparse set of settings as the admin API accepts it. */
export type ProjectSettingsInput = { readonly [N in Name]?: NonNullable<ProjectSettings[N]> | null };
export const ProjectSettingsInput = inputClass<ProjectSettingsInput>('ProjectSettingsInput', SETTINGS);

const fallbacks = Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback] as const);

export const DEFAULT_SETTINGS = Object.freeze(Object.fromEntries(fallbacks)) as ProjectSettings;

/** @throws AppError 400 if tokens of the project's own backend are to be refused, but have the same signature as users' tokens */
export function assertTokensTellApart(settings: ProjectSettings): void {
  if (settings.backend_tokens_enabled || settings.jwt_algorithm !== 'HS256') return;
  throw invalidParameters(
    'settings.backend_tokens_enabled can only be false where jwt_algorithm is not HS256',
  );
}

/** The statement timeout of a request in milliseconds, by the request's role. */
export function statementTimeout(settings: ProjectSettings, role: string): number {
  const { role_statement_timeouts: byRole, statement_timeout: otherwise } = settings;
  return (Object.hasOwn(byRole, role) ? byRole[role] : undefined) ?? otherwise;
}

/** Adds the defaults to stored settings. */
export function effectiveSettings(stored: ProjectSettingsInput): ProjectSettings {
  const set = Object.entries(stored).filter(([, value]) => value !== null && value !== undefined);
  return Object.freeze({ ...DEFAULT_SETTINGS, ...Object.fromEntries(set) });
}

/** Applies a sparse change: null removes a setting. */
export function mergeSettings(
  stored: ProjectSettingsInput,
  change: ProjectSettingsInput,
): ProjectSettingsInput {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...stored, ...Object.fromEntries(given) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}
