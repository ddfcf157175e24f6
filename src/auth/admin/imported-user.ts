/** One line of an import of users: JSON from another system, checked. */
import { hasTooManyValues, isJsonObject, type JsonObject, MAX_VALUES } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { UUID } from '../../common/text/uuid';
import { AppError } from '../../common/errors/app-error';
import { localPart, parseEmailAddress } from '../../identity/email-address';
import { isUsableHash } from '../../infra/crypto/password-hasher';
import { assertAppData, assertUserData } from '../accounts/account';
import { MAX_IDENTITIES } from '../accounts/identity';

/** A row for the statement that stores users; its names are those of the columns. */
export interface ImportedUser {
  readonly id: string | null;
  readonly email: string;
  readonly email_key: string | null;
  readonly name: string;
  readonly encrypted_password: string | null;
  readonly data: JsonObject;
  readonly app_data: JsonObject;
  readonly email_verified_at: string | null;
  readonly phone: string | null;
  readonly phone_verified_at: string | null;
  readonly banned_until: string | null;
  readonly created_at: string | null;
  readonly last_sign_in_at: string | null;
  readonly identities: readonly ImportedIdentity[];
}

interface ImportedIdentity {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly data: JsonObject;
  readonly created_at: string | null;
  readonly last_sign_in_at: string | null;
}

/** The issuer of a provider's identities. @param given the issuer in the line. Null if the provider is not known */
export type IssuerOf = (provider: string, given: string | null) => string | null;

/** A line that is refused; its message is part of the response. */
export class LineFault extends Error {}

const MEMBERS = new Set([
  ...[
    'id',
    'email',
    'phone',
    'name',
    'password_hash',
    'email_confirmed_at',
    'phone_confirmed_at',
    'identities',
  ],
  ...['user_metadata', 'app_metadata', 'created_at', 'last_sign_in_at', 'banned_until'],
]);
const MAX_NAME = 200;
const MAX_SUBJECT = 255;
const MAX_ISSUER = 2_048;
const PHONE = /^\+?([1-9]\d{5,14})$/;
const PROVIDER = /^[a-z][a-z0-9_:-]{0,62}$/;

/** @throws LineFault */
export function toImportedUser(line: Buffer, issuerOf: IssuerOf): ImportedUser {
  const user = objectIn(line);
  const email = emailOf(user);
  const phone = phoneOf(user);
  const userData = objectOf(user, 'user_metadata');
  const identities = identitiesOf(user, issuerOf);
  const appData = { ...providersOf(identities, email !== null), ...objectOf(user, 'app_metadata') };
  checked(() => assertUserData(userData));
  checked(() => assertAppData(appData));
  const [id, hash] = [idOf(user), hashOf(user)];
  if (!email && phone === null && (id === null || hash !== null))
    throw new LineFault('A user needs an email or a confirmed phone, or an id and no password');
  return {
    id,
    email: email?.address ?? '',
    email_key: email?.key ?? null,
    name: nameOf(user, userData) ?? (email ? localPart(email) : ''),
    encrypted_password: hash,
    data: userData,
    app_data: appData,
    email_verified_at: email ? timeOf(user, 'email_confirmed_at') : null,
    phone,
    phone_verified_at: phone === null ? null : timeOf(user, 'phone_confirmed_at'),
    banned_until: timeOf(user, 'banned_until'),
    created_at: timeOf(user, 'created_at'),
    last_sign_in_at: timeOf(user, 'last_sign_in_at'),
    identities,
  };
}

function objectIn(line: Buffer): JsonObject {
  if (hasTooManyValues(line)) throw new LineFault(`The line has more than ${MAX_VALUES} values`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    throw new LineFault('The line is not valid JSON');
  }
  if (!isJsonObject(value)) throw new LineFault('The line is not a JSON object');
  const unknown = Object.keys(value).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) throw new LineFault(`${unknown.slice(0, 100)} is unknown`);
  const fault = storageFault('The line', value);
  if (fault !== null) throw new LineFault(fault);
  return value;
}

function textOf(object: JsonObject, name: string, max: number): string | null {
  const value = object[name] ?? null;
  if (value === null || value === '') return null;
  if (typeof value !== 'string') throw new LineFault(`${name} is not a string`);
  if (value.length > max) throw new LineFault(`${name} is longer than ${max} characters`);
  return value;
}

function objectOf(object: JsonObject, name: string): JsonObject {
  const value = object[name] ?? {};
  if (!isJsonObject(value)) throw new LineFault(`${name} is not an object`);
  return value;
}

/** RFC 3339, of a year that PostgreSQL and JavaScript both write with four digits. */
function timeOf(object: JsonObject, name: string): string | null {
  const text = textOf(object, name, 40);
  if (text === null) return null;
  const time = new Date(text);
  const year = time.getUTCFullYear();
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || !(year >= 1900 && year <= 9999))
    throw new LineFault(`${name} is not a time as in RFC 3339`);
  return time.toISOString();
}

function idOf(user: JsonObject): string | null {
  const id = textOf(user, 'id', 36);
  if (id !== null && !UUID.test(id)) throw new LineFault('id is not a UUID');
  return id;
}

function emailOf(user: JsonObject): ReturnType<typeof parseEmailAddress> {
  const text = textOf(user, 'email', 320);
  const email = text === null ? null : parseEmailAddress(text);
  if (text !== null && email === null) throw new LineFault('email is not an address');
  return email;
}

/** Only a phone that its owner has proved can sign in. */
function phoneOf(user: JsonObject): string | null {
  const text = textOf(user, 'phone', 20);
  const number = text === null ? null : PHONE.exec(text)?.[1];
  if (number === undefined) throw new LineFault('phone is not a number as in E.164');
  return timeOf(user, 'phone_confirmed_at') === null ? null : number;
}

function nameOf(user: JsonObject, data: JsonObject): string | null {
  const own = textOf(user, 'name', MAX_NAME)?.trim();
  const others = [data.name, data.full_name].map((one) => (typeof one === 'string' ? one.trim() : ''));
  return own || others.find((one) => one !== '' && one.length <= MAX_NAME) || null;
}

function hashOf(user: JsonObject): string | null {
  const hash = textOf(user, 'password_hash', 1_000);
  if (hash !== null && !isUsableHash(hash))
    throw new LineFault('password_hash has an unknown form, or asks for too much work');
  return hash;
}

function identitiesOf(user: JsonObject, issuerOf: IssuerOf): ImportedIdentity[] {
  const given = user.identities ?? [];
  if (!Array.isArray(given) || given.length > MAX_IDENTITIES)
    throw new LineFault(`identities is not a list of at most ${MAX_IDENTITIES}`);
  return given.flatMap((one) => {
    if (!isJsonObject(one)) throw new LineFault('identities holds what is not an object');
    const provider = textOf(one, 'provider', 63);
    const subject = textOf(one, 'id', MAX_SUBJECT);
    if (provider === null || !PROVIDER.test(provider) || subject === null)
      throw new LineFault('An identity needs a provider and an id');
    const data = objectOf(one, 'data');
    checked(() => assertUserData(data));
    const issuer = issuerOf(provider, textOf(one, 'issuer', MAX_ISSUER));
    const times = { created_at: timeOf(one, 'created_at'), last_sign_in_at: timeOf(one, 'last_sign_in_at') };
    return issuer === null ? [] : [{ provider, issuer, subject, data, ...times }];
  });
}

function providersOf(identities: readonly ImportedIdentity[], hasEmail: boolean): JsonObject {
  if (identities.length === 0) return {};
  const providers = [
    ...new Set([...(hasEmail ? ['email'] : []), ...identities.map(({ provider }) => provider)]),
  ];
  return { provider: providers[0] ?? null, providers };
}

function checked(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof AppError ? new LineFault(error.message) : error;
  }
}
