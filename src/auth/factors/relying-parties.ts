/**
 * The relying parties of a project (WebAuthn). `webauthn_rp_id` is valid for its domain and subdomains; any other origin is a
 * separate relying party, with its host as id.
 */
import type { RelyingParty } from '../../identity/passkeys/webauthn';
import type { Project } from '../../projects/project';
import { passkeysDisabled } from '../auth.errors';

/**
 * The relying party of a request from a site; for other requests, that of the first origin.
 * @throws AppError 404 if passkeys are turned off, or there is no origin
 */
export function partyOf(project: Project, site: string | undefined): RelyingParty {
  const origins = originsOf(project);
  const origin = origins.find((one) => one === site) ?? origins[0];
  if (origin === undefined) throw passkeysDisabled();
  return partyWithId(project, rpIdOf(project, origin));
}

/** @throws AppError 404 */
export function partyWithId(project: Project, id: string): RelyingParty {
  const party = partiesOf(project).find((one) => one.id === id);
  if (!party) throw passkeysDisabled();
  return party;
}

/** Empty if passkeys are turned off. */
export function partiesOf(project: Project): RelyingParty[] {
  const { passkeys_enabled: isEnabled, webauthn_rp_name: name } = project.settings;
  const origins = isEnabled ? originsOf(project) : [];
  const ids = [...new Set(origins.map((origin) => rpIdOf(project, origin)))];
  return ids.map((id) => ({
    id,
    name: name ?? project.name,
    origins: origins.filter((origin) => rpIdOf(project, origin) === id),
  }));
}

function originsOf({ settings }: Project): string[] {
  const given = [...settings.webauthn_origins, ...(settings.site_url === null ? [] : [settings.site_url])];
  return given.filter((one) => URL.canParse(one)).map((one) => new URL(one).origin);
}

function rpIdOf({ settings: { webauthn_rp_id: id } }: Project, origin: string): string {
  const { hostname } = new URL(origin);
  return id !== null && (hostname === id || hostname.endsWith(`.${id}`)) ? id : hostname;
}
