/** People as SCIM 2.0 (RFC 7643) shows them, and changes to them (RFC 7644). Pure; a directory's input is checked member by member. */
import { isJsonObject, type JsonObject, type JsonValue } from '../common/text/json';
import { parseEmailAddress } from '../identity/email-address';
import { scimFault } from './scim.errors';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
/** Maximum characters of a name. */
const MAX_NAME = 200;
const MAX_EXTERNAL_ID = 255;
const MAX_OPERATIONS = 100;

export interface ScimPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly createdAt: Date;
}

export interface ScimPage {
  readonly offset: number;
  readonly limit: number;
}

/** A group of a person. */
export interface ScimMembership {
  readonly id: string;
  readonly displayName: string;
}

/** Attributes of a person from the directory, in addition to the account. */
export interface ScimLink {
  readonly externalId: string | null;
  /** Whether the directory itself has deactivated the account. */
  readonly isDeactivated: boolean;
}

/** Absent members leave the values unchanged. */
export interface ScimChange {
  readonly email?: string;
  readonly name?: string;
  readonly isActive?: boolean;
  readonly externalId?: string | null;
}

export interface ScimFilter {
  readonly attribute: 'username' | 'externalid' | 'id';
  readonly value: string;
}

/** @param groups of the person @param base address of the directory */
export const toScimUser = (
  person: ScimPerson,
  { externalId }: ScimLink,
  groups: readonly ScimMembership[],
  base: string,
): JsonObject => ({
  schemas: [USER_SCHEMA],
  id: person.id,
  ...(externalId === null ? {} : { externalId }),
  userName: person.email,
  name: { formatted: person.name },
  displayName: person.name,
  emails: [{ value: person.email, type: 'work', primary: true }],
  active: person.isActive,
  groups: groups.map(({ id, displayName }) => ({
    value: id,
    $ref: `${base}/Groups/${id}`,
    display: displayName,
    type: 'direct',
  })),
  meta: {
    resourceType: 'User',
    created: person.createdAt.toISOString(),
    location: `${base}/Users/${person.id}`,
  },
});

export const toScimList = (
  resources: readonly JsonObject[],
  total: number,
  startIndex: number,
): JsonObject => ({
  schemas: [LIST_SCHEMA],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: [...resources],
});

/** Members of a resource by the parameters `attributes` and `excludedAttributes` (RFC 7644, 3.9). */
export interface ScimSelection {
  readonly attributes?: unknown;
  readonly excludedAttributes?: unknown;
}

export function isSelected(name: string, { attributes, excludedAttributes }: ScimSelection): boolean {
  if (name === 'id' || name === 'schemas') return true;
  const wanted = namesIn(attributes);
  return wanted.size > 0
    ? wanted.has(name.toLowerCase())
    : !namesIn(excludedAttributes).has(name.toLowerCase());
}

export const selected = (resource: JsonObject, selection: ScimSelection): JsonObject =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => isSelected(name, selection)));

/** Sub-attributes select the attribute: `name.givenName`, `emails[type eq "work"]`. */
function namesIn(list: unknown): ReadonlySet<string> {
  const names = typeof list === 'string' ? list.slice(0, 1_000).toLowerCase().split(',') : [];
  return new Set(
    names
      .map((name) =>
        name
          .replace(/^urn:.*:/, '')
          .replace(/[.[].*$/, '')
          .trim(),
      )
      .filter(Boolean),
  );
}

/**
 * Reads a filter such as `userName eq "ada@example.com"`, with which directories look people up.
 * @throws AppError 400 for any other filter
 */
export function parseFilter(text: unknown): ScimFilter | null {
  if (text === undefined) return null;
  const [, attribute = '', value = ''] =
    /^\s*(userName|externalId|id|emails\[type eq "work"\]\.value)\s+eq\s+("(?:[^"\\]|\\.){0,400}")\s*$/i.exec(
      typeof text === 'string' ? text : '',
    ) ?? [];
  if (attribute === '')
    throw scimFault(
      'invalidFilter',
      'The filter must be userName, externalId, id or emails[type eq "work"].value eq "..."',
    );
  try {
    return {
      // The work address is the userName.
      attribute: (attribute.startsWith('emails')
        ? 'username'
        : attribute.toLowerCase()) as ScimFilter['attribute'],
      value: JSON.parse(value) as string,
    };
  } catch {
    throw scimFault('invalidFilter', 'The value of the filter is not valid');
  }
}

/** @param body of POST and PUT @throws AppError 400 for an invalid attribute */
export function parseUser(body: unknown): ScimChange & { readonly email: string } {
  if (!isJsonObject(body)) throw scimFault('invalidSyntax', 'The body must be an object');
  const { email, ...change } = changeIn(body);
  if (email === undefined) throw scimFault('invalidValue', 'userName must be an email address');
  return { isActive: true, externalId: null, ...change, email };
}

/** @param body of PATCH @throws AppError 400 for an invalid operation */
export function parsePatch(body: unknown): ScimChange {
  return Object.assign({}, ...operationsIn(body, MAX_OPERATIONS).map(changeOf)) as ScimChange;
}

export interface ScimOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string | undefined;
  readonly value: unknown;
}

/** @param body of PATCH @throws AppError 400 for a body that is not a list of operations, or has more than `most` */
export function operationsIn(body: unknown, most: number): ScimOperation[] {
  const operations = isJsonObject(body) ? body.Operations : null;
  if (!Array.isArray(operations) || operations.length > most)
    throw scimFault('invalidSyntax', `Operations must be a list of at most ${most}`);
  return operations.map((operation) => {
    if (!isJsonObject(operation)) throw scimFault('invalidSyntax', 'An operation must be an object');
    const { op, path, value } = operation;
    // Entra ID capitalises the names of operations.
    const name = typeof op === 'string' ? op.toLowerCase() : '';
    const kind = (['add', 'replace', 'remove'] as const).find((one) => one === name);
    if (kind === undefined) throw scimFault('invalidSyntax', 'op is unknown');
    if (path !== undefined && typeof path !== 'string')
      throw scimFault('invalidPath', 'path must be a string');
    return { op: kind, path, value };
  });
}

function changeOf({ op, path, value }: ScimOperation): ScimChange {
  if (op === 'remove') return path === 'externalId' ? { externalId: null } : {};
  if (path === undefined) return isJsonObject(value) ? changeIn(value) : {};
  return changeIn({ [path]: (value as JsonValue) ?? null });
}

/** Other attributes, which directories send by default, are ignored. */
function changeIn(given: JsonObject): ScimChange {
  const { userName, externalId } = given;
  const active = 'active' in given ? toActive(given.active) : undefined;
  const name = nameIn(given);
  return {
    ...(userName === undefined ? {} : { email: toAddress(userName) }),
    ...(name === null ? {} : { name }),
    ...(active === undefined ? {} : { isActive: active }),
    ...(externalId === undefined ? {} : { externalId: toExternalId(externalId) }),
  };
}

function toAddress(value: unknown): string {
  const email = typeof value === 'string' ? parseEmailAddress(value) : null;
  if (!email) throw scimFault('invalidValue', 'userName must be an email address');
  return email.address;
}

/** Entra ID sends boolean values as texts. */
function toActive(value: unknown): boolean {
  const text = String(value).toLowerCase();
  if (text !== 'true' && text !== 'false') throw scimFault('invalidValue', 'active must be true or false');
  return text === 'true';
}

export function toExternalId(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'string' || value === '' || value.length > MAX_EXTERNAL_ID)
    throw scimFault('invalidValue', `externalId must be a text of at most ${MAX_EXTERNAL_ID} characters`);
  return value;
}

function nameIn(given: JsonObject): string | null {
  const name = isJsonObject(given.name) ? given.name : {};
  const formatted = given['name.formatted'] ?? name.formatted;
  const parts = [name.givenName, name.familyName].filter((part) => typeof part === 'string').join(' ');
  const found = [given.displayName, formatted, parts].find(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  );
  return found === undefined ? null : found.trim().slice(0, MAX_NAME).toWellFormed();
}
