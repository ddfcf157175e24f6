/** The identity of "view as" in the address of a page, so that a link shows the same view. Pure. */
import type { Identity } from '../api/identity';

/** Undefined for the service role, which is the default of an address. */
export function identityToText(identity: Identity): string | undefined {
  switch (identity.as) {
    case 'service_role':
      return undefined;
    case 'anon':
      return 'anon';
    case 'user':
      return `user:${identity.user_id}`;
    case 'claims':
      return `claims:${JSON.stringify(identity.claims)}`;
  }
}

/** The service role for a text that names no identity. */
export function identityFromText(text: string | undefined): Identity {
  if (text === 'anon') return { as: 'anon' };
  const [, kind, value] = /^(user|claims):(.*)$/s.exec(text ?? '') ?? [];
  if (kind === 'user' && value) return { as: 'user', user_id: value };
  const claims = kind === 'claims' ? claimsOf(value ?? '') : null;
  return claims ? { as: 'claims', claims } : { as: 'service_role' };
}

/** Null unless the text is a JSON object. */
export function claimsOf(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
