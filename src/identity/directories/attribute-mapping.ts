/** Maps attributes of a directory to claims of the identity or to custom claims (GoTrue's `attribute_mapping`). */
import { isJsonObject, type JsonObject } from '../../common/text/json';
import { isDomainAllowed, parseEmailAddress } from '../email-address';

export interface MappedAttribute {
  readonly name?: string;
  /** Further names; the first one that has a value counts. */
  readonly names?: readonly string[];
  /** All values, not only the first. */
  readonly array?: boolean;
  readonly default?: string;
}

/** The data of a directory about a user who signed in there. */
export interface DirectoryUser {
  readonly issuer: string;
  readonly subject: string;
  /** With `email` and `email_verified`. */
  readonly personal: JsonObject;
  readonly custom: JsonObject;
}

export interface AttributeMapping {
  readonly keys: Readonly<Record<string, MappedAttribute>>;
}

/** Maximum length of names, and of default values. */
const MAX_NAME = 500;
const MAX_KEYS = 50;
const MAX_NAMES = 20;
/** Claims about the person. All others are custom claims. */
const PERSONAL = ['email', 'name', 'preferred_username', 'picture'];

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_NAME;

/** @returns null for a value that is not a mapping */
export function parseMapping(value: unknown): AttributeMapping | null {
  if (!isJsonObject(value) || !isJsonObject(value.keys)) return null;
  const keys = Object.entries(value.keys);
  const areKeys = keys.every(
    ([key, mapped]) => /^[a-z_][a-z0-9_]{0,62}$/i.test(key) && key !== '__proto__' && isMapped(mapped),
  );
  return areKeys && keys.length <= MAX_KEYS
    ? { keys: Object.fromEntries(keys) as AttributeMapping['keys'] }
    : null;
}

function isMapped(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { name, names = [], array = false, default: otherwise, ...others } = value;
  const areNames = Array.isArray(names) && names.length <= MAX_NAMES && names.every(isName);
  const isDefault = otherwise === undefined || isName(otherwise);
  return (
    Object.keys(others).length === 0 &&
    typeof array === 'boolean' &&
    (name === undefined || isName(name)) &&
    areNames &&
    isDefault
  );
}

/**
 * The directory proves addresses of its domains: an administrator has assigned them to it.
 * @param usual the names of attributes that need no mapping, by claim
 * @param otherwise the address for a user who has none
 */
export function claimsOf(
  attributes: ReadonlyMap<string, readonly string[]>,
  mapping: AttributeMapping,
  usual: Readonly<Record<string, readonly string[]>>,
  domains: readonly string[],
  otherwise: string | null = null,
): Pick<DirectoryUser, 'personal' | 'custom'> {
  const { personal, custom } = mapAttributes(attributes, mapping, usual);
  const given = personal.email ?? otherwise;
  const email = typeof given === 'string' ? parseEmailAddress(given) : null;
  const isProved = email !== null && domains.length > 0 && isDomainAllowed(email, domains);
  return { personal: { ...personal, email: email?.address ?? null, email_verified: isProved }, custom };
}

function mapAttributes(
  attributes: ReadonlyMap<string, readonly string[]>,
  { keys }: AttributeMapping,
  usual: Readonly<Record<string, readonly string[]>>,
): { readonly personal: JsonObject; readonly custom: JsonObject } {
  const personal: JsonObject = {};
  const custom: JsonObject = {};
  const all = {
    ...Object.fromEntries(Object.entries(usual).map(([key, names]) => [key, { names }])),
    ...keys,
  };
  for (const [key, mapped] of Object.entries(all)) {
    const value = valueOf(attributes, mapped);
    if (value !== null) (PERSONAL.includes(key) ? personal : custom)[key] = value;
  }
  return { personal, custom };
}

function valueOf(
  attributes: ReadonlyMap<string, readonly string[]>,
  { name, names = [], array = false, default: otherwise }: MappedAttribute,
): string | string[] | null {
  const values = [...(name === undefined ? [] : [name]), ...names]
    .map((one) => attributes.get(one) ?? [])
    .find((given) => given.length > 0);
  if (array) return [...(values ?? (otherwise === undefined ? [] : [otherwise]))];
  return values?.[0] ?? otherwise ?? null;
}
