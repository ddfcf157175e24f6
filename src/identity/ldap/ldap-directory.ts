/** Sign-in at a directory of LDAP: the entry of a login is searched with an account of the application, then its password is tried. */
import { createHash } from 'node:crypto';
import type { Client, Entry } from 'ldapts' with { 'resolution-mode': 'import' };
import type { LdapSetting } from '../../config/ldap-setting';
import type { OutboundHttp } from '../../infra/outbound/outbound-http';
import { withDirectory } from './ldap-connection';

/** Values of an attribute that are read. */
const MAX_VALUES = 1_000;

const DEFAULT_FILTER = '(|(uid={login})(mail={login})(sAMAccountName={login})(userPrincipalName={login}))';

export interface LdapDirectory {
  readonly setting: LdapSetting;
  readonly bindPassword: string;
  readonly http: OutboundHttp;
}

export interface LdapUser {
  readonly id: string;
  /** Contains `groups` if there is a group filter. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

/** Tries the password of an entry, unless there were too many wrong ones. */
export type PasswordAttempt = (dn: string, work: () => Promise<boolean>) => Promise<boolean>;

/**
 * @param wanted names of the attributes of a user that are read
 * @returns null for an unknown login and a wrong password @throws Error for a directory that fails
 */
export function signInAt(
  { setting, bindPassword, http }: LdapDirectory,
  wanted: readonly string[],
  { login, password }: { login: string; password: string },
  attempt: PasswordAttempt,
): Promise<LdapUser | null> {
  // A bind without a password succeeds for everyone (RFC 4513, 5.1.2).
  if (password === '') return Promise.resolve(null);
  const idAttribute = setting.id_attribute ?? 'entryUUID';
  return withDirectory(http, setting, async (client) => {
    await client.bind(setting.bind_dn, bindPassword);
    const entry = await findUser(client, setting, login, { idAttribute, wanted });
    // An unknown login takes the same number of steps. Case and spaces are ignored, as a directory does.
    const plain = login.trim().toLowerCase().replace(/\s+/g, ' ');
    const dn = entry?.dn ?? `cn=${createHash('sha256').update(plain).digest('hex')},${setting.base_dn}`;
    const groups = await groupsOf(client, setting, dn);
    const isRight = await attempt(dn, () => isPasswordOf(client, dn, password));
    if (!entry || !isRight) return null;
    const [id] = valuesOf(entry, idAttribute);
    if (id === undefined) throw new Error(`the entry has no ${idAttribute}`);
    const attributes = new Map(wanted.map((name) => [name, valuesOf(entry, name)]));
    if (groups) attributes.set('groups', groups);
    return { id, attributes };
  });
}

async function findUser(
  client: Client,
  { base_dn: baseDn, user_filter: filter = DEFAULT_FILTER }: LdapSetting,
  login: string,
  { idAttribute, wanted }: { idAttribute: string; wanted: readonly string[] },
): Promise<Entry | null> {
  const { searchEntries } = await client.search(baseDn, {
    scope: 'sub',
    filter: filter.replaceAll('{login}', escapeFilter(login)),
    attributes: [...new Set([idAttribute, ...wanted])],
    sizeLimit: 2,
    explicitBufferAttributes: [idAttribute],
  });
  // With two entries, the owner of the password is ambiguous.
  return searchEntries.length === 1 ? (searchEntries[0] ?? null) : null;
}

async function groupsOf(client: Client, setting: LdapSetting, dn: string): Promise<string[] | null> {
  const { group_filter: filter, group_attribute: name = 'cn' } = setting;
  if (filter === undefined) return null;
  const { searchEntries } = await client.search(setting.group_base_dn ?? setting.base_dn, {
    scope: 'sub',
    filter: filter.replaceAll('{dn}', escapeFilter(dn)),
    attributes: [name],
    sizeLimit: MAX_VALUES,
  });
  return searchEntries.flatMap((entry) => valuesOf(entry, name));
}

async function isPasswordOf(client: Client, dn: string, password: string): Promise<boolean> {
  const { InvalidCredentialsError, NoSuchObjectError } = await import('ldapts');
  return client.bind(dn, password).then(
    () => true,
    (error: unknown) => {
      if (error instanceof InvalidCredentialsError || error instanceof NoSuchObjectError) return false;
      throw error;
    },
  );
}

function valuesOf(entry: Entry, name: string): string[] {
  const key = Object.keys(entry).find((one) => one.toLowerCase() === name.toLowerCase());
  const value = key === undefined ? [] : (entry[key] ?? []);
  const values = Array.isArray(value) ? value : [value];
  return values
    .slice(0, MAX_VALUES)
    .map(textOf)
    .filter((text) => text !== '');
}

/** Binary ids, such as objectGUID, in hexadecimal. */
function textOf(value: Buffer | string): string {
  if (typeof value === 'string') return value;
  const text = value.toString('utf8');
  return /^[\x20-\x7e]+$/.test(text) ? text : value.toString('hex');
}

/** RFC 4515: all but letters and digits in hexadecimal. */
const escapeFilter = (text: string): string =>
  [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9]/.test(character) ? character : `\\${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
