/** The fields of each type of provider. */
import type { useT } from '../../i18n';
import type { Preset } from '../../queries/providers';

/** Fields in addition to the client id and the secret. */
export const FIELDS = ['issuer', 'tenant', 'domain'] as const;
export type Field = (typeof FIELDS)[number];

interface PresetForm {
  /** A name, or null for a translated text. */
  readonly label: string | null;
  readonly required: readonly Field[];
  readonly optional: readonly Field[];
}

const form = (label: string | null, required: Field[] = [], optional: Field[] = []): PresetForm => ({
  label,
  required,
  optional,
});

export const PRESETS: Readonly<Record<Preset, PresetForm>> = {
  google: form('Google'),
  azure: form('Microsoft Entra', ['tenant']),
  apple: form('Apple'),
  github: form('GitHub', [], ['issuer']),
  gitlab: form('GitLab', [], ['issuer']),
  keycloak: form('Keycloak', ['issuer']),
  okta: form('Okta', ['domain']),
  auth0: form('Auth0', ['domain']),
  oidc: form(null, ['issuer']),
};

export const presetLabel = (t: ReturnType<typeof useT>, preset: Preset): string =>
  PRESETS[preset].label ?? t('otherIssuer');
