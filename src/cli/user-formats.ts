/** Users as other systems export them, to the lines of POST /admin/v1/projects/{id}/users/import, which checks the values. */
import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../common/text/json';

export interface FormatOptions {
  /** Firebase: the parameters of the hashes as in `$fbscrypt$<parameters>$...`; null: passwords are left out. */
  readonly firebaseHash: string | null;
  /** Auth0: hashes by user id, from the export of passwords. */
  readonly auth0Hashes: ReadonlyMap<string, string>;
}

/** @returns null for a deleted user, who is not imported */
type Format = (row: JsonObject, options: FormatOptions) => JsonObject | null;

/** The end of the ban of a user who was disabled without an end. */
const FOREVER = '9999-12-31T00:00:00Z';

/** The columns of auth.users; `identities` are rows of auth.identities. In CSV, columns are texts with JSON. */
function fromSupabase(row: JsonObject): JsonObject | null {
  if (row.deleted_at) return null;
  const identities = listIn(row.identities).map((one) => ({
    provider: one.provider ?? null,
    id: one.provider_id ?? one.id ?? null,
    issuer: objectIn(one.identity_data).iss ?? null,
    data: objectIn(one.identity_data),
    created_at: time(one.created_at),
    last_sign_in_at: time(one.last_sign_in_at),
  }));
  return {
    id: row.id ?? null,
    email: row.email ?? null,
    phone: row.phone ?? null,
    password_hash: row.encrypted_password ?? null,
    email_confirmed_at: time(row.email_confirmed_at ?? row.confirmed_at),
    phone_confirmed_at: time(row.phone_confirmed_at),
    created_at: time(row.created_at),
    last_sign_in_at: time(row.last_sign_in_at),
    banned_until: time(row.banned_until),
    user_metadata: objectIn(row.raw_user_meta_data),
    app_metadata: objectIn(row.raw_app_meta_data),
    identities: identities.filter(({ provider }) => provider !== 'email' && provider !== 'phone'),
  };
}

const FIREBASE_PROVIDERS: Readonly<Record<string, string>> = { microsoft: 'azure' };

/** An entry of `users` of `firebase auth:export --format=json`. */
function fromFirebase(row: JsonObject, { firebaseHash }: FormatOptions): JsonObject {
  const created = time(row.createdAt);
  const { passwordHash, salt = '', localId } = row;
  const identities = listIn(row.providerUserInfo).flatMap(({ providerId, rawId, ...data }) => {
    const [, name] = /^(?:oidc\.)?([\w-]+?)(?:\.com)?$/.exec(textIn(providerId)) ?? [];
    if (name === undefined || ['password', 'phone'].includes(name)) return [];
    return [{ provider: FIREBASE_PROVIDERS[name] ?? name, id: rawId ?? null, data }];
  });
  return {
    id: uuidOf(`firebase:${textIn(localId)}`),
    email: row.email ?? null,
    phone: row.phoneNumber ?? null,
    name: row.displayName ?? null,
    password_hash:
      passwordHash && firebaseHash !== null
        ? `$fbscrypt$${firebaseHash}$${textIn(salt)}$${textIn(passwordHash)}`
        : null,
    email_confirmed_at: row.emailVerified === true ? created : null,
    phone_confirmed_at: created,
    created_at: created,
    last_sign_in_at: time(row.lastSignedInAt),
    banned_until: row.disabled === true ? FOREVER : null,
    user_metadata: present({ name: row.displayName, avatar_url: row.photoUrl, firebase_id: localId }),
    app_metadata: objectIn(row.customAttributes),
    identities,
  };
}

const AUTH0_PROVIDERS: Readonly<Record<string, string>> = {
  'google-oauth2': 'google',
  windowslive: 'azure',
  waad: 'azure',
};

/** A line of the job `users-exports`, or of a file for an import into Auth0. */
function fromAuth0(row: JsonObject, { auth0Hashes }: FormatOptions): JsonObject {
  const id = textIn(row.user_id ?? row.id);
  const created = time(row.created_at);
  const hash = objectIn(row.custom_password_hash).hash;
  const identities = listIn(row.identities).flatMap(({ provider, user_id: subject, profileData }) => {
    const name = AUTH0_PROVIDERS[textIn(provider)] ?? textIn(provider);
    if (['auth0', 'sms', 'email'].includes(name)) return [];
    const data = objectIn(profileData);
    return [{ provider: name, id: typeof subject === 'number' ? String(subject) : (subject ?? null), data }];
  });
  return {
    id: uuidOf(`auth0:${id}`),
    email: row.email ?? null,
    phone: row.phone_number ?? null,
    name: row.name ?? null,
    password_hash: auth0Hashes.get(id) ?? row.password_hash ?? objectIn(hash).value ?? null,
    email_confirmed_at: row.email_verified === true ? created : null,
    phone_confirmed_at: row.phone_verified === true ? created : null,
    created_at: created,
    last_sign_in_at: time(row.last_login),
    banned_until: row.blocked === true ? FOREVER : null,
    user_metadata: {
      ...present({ name: row.name, nickname: row.nickname, avatar_url: row.picture }),
      ...objectIn(row.user_metadata),
      auth0_id: id,
    },
    app_metadata: objectIn(row.app_metadata),
    identities,
  };
}

/** An entry of `users` of a realm that was exported with its users. */
function fromKeycloak(row: JsonObject): JsonObject {
  const created = time(row.createdTimestamp);
  const attributes = Object.entries(objectIn(row.attributes)).map(([name, value]): [string, JsonValue] => [
    name,
    Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value,
  ]);
  const name = `${textIn(row.firstName)} ${textIn(row.lastName)}`.trim();
  const roles = row.realmRoles;
  return {
    id: row.id ?? uuidOf(`keycloak:${textIn(row.username)}`),
    email: row.email ?? null,
    name: name || (row.username ?? null),
    password_hash: keycloakHash(listIn(row.credentials).find(({ type }) => type === 'password')),
    email_confirmed_at: row.emailVerified === true ? created : null,
    created_at: created,
    banned_until: row.enabled === false ? FOREVER : null,
    user_metadata: { ...Object.fromEntries(attributes), ...present({ username: row.username }) },
    app_metadata: Array.isArray(roles) ? { roles } : {},
    identities: listIn(row.federatedIdentities).map((one) => ({
      provider: one.identityProvider ?? null,
      id: one.userId ?? null,
      data: present({ preferred_username: one.userName }),
    })),
  };
}

function keycloakHash(credential: JsonObject | undefined): string | null {
  if (!credential) return null;
  const facts = { ...credential, ...objectIn(credential.credentialData) };
  const secret = objectIn(credential.secretData);
  const value = textIn(secret.value ?? credential.hashedSaltedValue);
  const salt = textIn(secret.salt ?? credential.salt);
  const iterations = textIn(facts.hashIterations);
  const digest = /^pbkdf2(?:-(sha256|sha512))?$/.exec(textIn(facts.algorithm));
  if (digest) return `$pbkdf2-${digest[1] ?? 'sha1'}$i=${iterations}$${salt}$${value}`;
  if (facts.algorithm !== 'argon2') return textIn(facts.algorithm);
  const parameters = objectIn(facts.additionalParameters);
  const one = (name: string): string => textIn([parameters[name]].flat()[0]);
  const unpadded = (text: string): string => text.replace(/=+$/, '');
  const cost = `m=${one('memory')},t=${iterations},p=${one('parallelism')}`;
  return `$argon2${one('type')}$v=19$${cost}$${unpadded(salt)}$${unpadded(value)}`;
}

/** Plinth's own lines; in CSV the objects are texts. */
const fromPlinth: Format = ({ user_metadata: user, app_metadata: app, identities, ...row }) => ({
  ...row,
  user_metadata: objectIn(user),
  app_metadata: objectIn(app),
  identities: typeof identities === 'string' ? listIn(identities) : (identities ?? null),
});

export const FORMATS: Readonly<Record<string, Format>> = {
  plinth: fromPlinth,
  supabase: fromSupabase,
  firebase: fromFirebase,
  auth0: fromAuth0,
  keycloak: fromKeycloak,
};

/** The block `hash_config { ... }` of Firebase's console, or `v=1,n=14,...` itself. @returns null for any other text */
export function firebaseParameters(text: string): string | null {
  if (/^v=1,n=/.test(text.trim())) return text.trim();
  const value = (name: string): string | undefined =>
    new RegExp(`\\b${name}\\b["']?\\s*[:=]\\s*["']?([\\w+/=-]+)`).exec(text)?.[1];
  const [key, separator] = [value('base64_signer_key'), value('base64_salt_separator')];
  const [rounds, cost] = [value('rounds'), value('mem_cost')];
  return key && separator && rounds && cost
    ? `v=1,n=${cost},r=${rounds},p=1,ss=${separator},sk=${key}`
    : null;
}

/** A line of Auth0's export of passwords, which has one JSON object on each line. */
export function auth0Hash(row: JsonObject): [id: string, hash: string] | null {
  const id = objectIn(row._id).$oid ?? row.user_id;
  const hash = row.passwordHash ?? row.password_hash;
  return typeof id === 'string' && typeof hash === 'string'
    ? [`auth0|${id.replace(/^auth0\|/, '')}`, hash]
    : null;
}

/** The same id for the same user in each run: UUID of version 5 (RFC 9562) in the namespace of addresses. */
function uuidOf(name: string): string {
  const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');
  const hash = createHash('sha1').update(namespace).update(name).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Milliseconds, or text as PostgreSQL (`2026-01-01 08:00:00.5+00`) or RFC 3339 writes it. */
function time(value: JsonValue | undefined): string | null {
  const text = textIn(value).trim();
  if (text === '') return null;
  if (/^\d{10,14}$/.test(text)) return new Date(Number(text)).toISOString();
  const zoned = text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  const date = new Date(zoned);
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

const textIn = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

function objectIn(value: JsonValue | undefined): JsonObject {
  const found = typeof value === 'string' ? parseJson(value) : value;
  return isJsonObject(found) ? found : {};
}

function listIn(value: JsonValue | undefined): JsonObject[] {
  const found = typeof value === 'string' ? parseJson(value) : value;
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}

const present = (members: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter((one): one is [string, JsonValue] => (one[1] ?? '') !== ''),
  );
