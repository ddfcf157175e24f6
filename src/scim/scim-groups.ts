/** Groups as SCIM 2.0 (RFC 7643, 4.2) shows them, and changes to them as Entra ID and Okta send them. Pure; input is checked member by member. */
import { isJsonObject, type JsonObject } from '../common/text/json';
import { isStorableText } from '../common/text/storable';
import { UUID } from '../common/text/uuid';
import { operationsIn, type ScimOperation, toExternalId } from './scim-people';
import { scimFault } from './scim.errors';

export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
/** Maximum number of members of a group, and of a page of groups. */
export const MAX_MEMBERS = 5_000;
/** Maximum characters of a name. */
const MAX_NAME = 255;
const MAX_CLAUSES = 4;
const MAX_OPERATIONS = 1_000;
const MAX_ATTRIBUTES = 100;

export interface ScimGroup {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The combined effect of successive operations on the members. */
export interface MemberChange {
  /** Whether only the added members remain. */
  readonly replaces: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Absent members leave the values unchanged. */
export interface GroupChange {
  readonly displayName?: string;
  readonly externalId?: string | null;
  readonly members?: MemberChange;
}

/** All given conditions must hold. */
export interface GroupFilter {
  readonly displayName?: string;
  readonly externalId?: string;
  readonly id?: string;
  readonly member?: string;
}

/** @param base address of the directory @param members their ids; null leaves the members out */
export const toScimGroup = (
  group: ScimGroup,
  members: readonly string[] | null,
  base: string,
): JsonObject => ({
  schemas: [GROUP_SCHEMA],
  id: group.id,
  ...(group.externalId === null ? {} : { externalId: group.externalId }),
  displayName: group.displayName,
  ...(members ? { members: members.map((id) => ({ value: id, $ref: `${base}/Users/${id}` })) } : {}),
  meta: {
    resourceType: 'Group',
    created: group.createdAt.toISOString(),
    lastModified: group.updatedAt.toISOString(),
    location: `${base}/Groups/${group.id}`,
  },
});

const CLAUSE =
  /\s*(?:urn:[\w:.]{1,100}:)?(displayName|externalId|id|members(?:\.value)?|members\[value)\s+eq\s+("(?:[^"\\]|\\.){0,400}")\]?\s*(and\b|$)/iy;

/**
 * Reads a filter such as `displayName eq "Sales"`, and `id eq "..." and members eq "..."`, with which
 * directories look up members.
 * @throws AppError 400 for any other filter
 */
export function parseGroupFilter(text: unknown): GroupFilter {
  if (text === undefined) return {};
  const clauses = new RegExp(CLAUSE);
  let filter: GroupFilter = {};
  for (let count = 0; typeof text === 'string' && count < MAX_CLAUSES; count += 1) {
    const [, attribute = '', value = '', more] = clauses.exec(text) ?? [];
    if (attribute === '') break;
    filter = { ...filter, [filterMember(attribute)]: textOf(value) };
    if (more === '') return filter;
  }
  throw scimFault('invalidFilter', 'The filter must be displayName, externalId, id or members eq "..."');
}

function filterMember(attribute: string): keyof GroupFilter {
  const lower = attribute.toLowerCase();
  if (lower.startsWith('members')) return 'member';
  return (['displayName', 'externalId', 'id'] as const).find((one) => one.toLowerCase() === lower) ?? 'id';
}

function textOf(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw scimFault('invalidFilter', 'The value of the filter is not valid');
  }
}

/** @param body of POST and PUT: absent attributes are empty @throws AppError 400 for an invalid attribute */
export function parseGroup(body: unknown): GroupChange & { readonly displayName: string } {
  if (!isJsonObject(body)) throw scimFault('invalidSyntax', 'The body must be an object');
  const { displayName, externalId = null, members = [] } = body;
  return {
    displayName: toName(displayName),
    externalId: toExternalId(externalId),
    members: { replaces: true, added: idsIn(members ?? []), removed: [] },
  };
}

/** @param body of PATCH @throws AppError 400 for an invalid operation */
export function parseGroupPatch(body: unknown): GroupChange {
  const sum = new PatchSum();
  for (const { op, path, value } of operationsIn(body, MAX_OPERATIONS)) {
    if (path !== undefined) sum.apply(op, path, value);
    else if (isJsonObject(value)) for (const name of namesIn(value)) sum.apply(op, name, value[name]);
    else throw scimFault('invalidValue', 'An operation without path needs an object');
  }
  return sum.change();
}

/** @throws AppError 400 for more names than any schema has */
function namesIn(value: JsonObject): string[] {
  const names = Object.keys(value);
  if (names.length > MAX_ATTRIBUTES)
    throw scimFault('invalidValue', `An operation may set at most ${MAX_ATTRIBUTES} attributes`);
  return names;
}

/** The combined effect of successive operations. Each value is visited once, however many operations there are. */
class PatchSum {
  private rest: GroupChange = {};
  private replaces = false;
  private readonly added = new Set<string>();
  private readonly removed = new Set<string>();

  change(): GroupChange {
    const { replaces, added, removed } = this;
    if (!replaces && added.size === 0 && removed.size === 0) return this.rest;
    return { ...this.rest, members: { replaces, added: [...added], removed: [...removed] } };
  }

  /** Attributes that are not stored are ignored, as for people. */
  apply(op: ScimOperation['op'], path: string, value: unknown): void {
    const name = path.replace(`${GROUP_SCHEMA}:`, '').trim();
    const attribute = name.toLowerCase();
    const isRemoval = op === 'remove';
    if (attribute === 'displayname')
      this.rest = { ...this.rest, displayName: toName(isRemoval ? null : value) };
    if (attribute === 'externalid')
      this.rest = { ...this.rest, externalId: isRemoval ? null : toExternalId(value ?? null) };
    if (attribute === 'members') this.applyMembers(op, value);
    else if (attribute.startsWith('members')) this.remove([{ value: memberIn(name, op) }]);
  }

  private applyMembers(op: ScimOperation['op'], value: unknown): void {
    // RFC 7644, 3.5.2.2: a removal without a value removes all members.
    const isAll = op === 'remove' && (value ?? null) === null;
    if (isAll || op === 'replace') {
      this.replaces = true;
      this.added.clear();
      this.removed.clear();
    }
    if (isAll) return;
    if (op === 'remove') this.remove(value);
    else
      for (const id of idsIn(value ?? [])) {
        this.removed.delete(id);
        this.added.add(id);
      }
  }

  private remove(value: unknown): void {
    for (const id of idsIn(value, 'unknown ones are ignored')) {
      this.added.delete(id);
      this.removed.add(id);
    }
  }
}

/** The id in `members[value eq "..."]`, which Okta removes. */
function memberIn(path: string, op: ScimOperation['op']): string {
  const [, quoted] = /^members\[\s*value\s+eq\s+"([^"\\]{0,100})"\s*\]$/i.exec(path) ?? [];
  if (quoted === undefined || op !== 'remove')
    throw scimFault('invalidPath', 'The path must be members, or members[value eq "..."] of a removal');
  return quoted;
}

/** @param unknown if set, values that are not ids are left out */
function idsIn(value: unknown, unknown?: string): string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length > MAX_MEMBERS)
    throw scimFault('invalidValue', `A group may have at most ${MAX_MEMBERS} members`);
  const ids = list.map((member) => {
    const id = isJsonObject(member) ? member.value : null;
    if (typeof id !== 'string')
      throw scimFault('invalidValue', 'members must be a list of {"value": "<id>"}');
    if (isJsonObject(member) && /^group$/i.test(typeof member.type === 'string' ? member.type : ''))
      throw scimFault('invalidValue', 'A group cannot be a member');
    return id.toLowerCase();
  });
  const known = ids.filter((id) => UUID.test(id));
  if (unknown === undefined && known.length < ids.length) throw unknownMember();
  return [...new Set(known)];
}

export const unknownMember = (): Error => scimFault('invalidValue', 'members has the id of an unknown user');

function toName(value: unknown): string {
  const name = typeof value === 'string' ? value.trim() : '';
  if (name === '' || name.length > MAX_NAME || !isStorableText(name) || /\p{Cc}/u.test(name))
    throw scimFault('invalidValue', `displayName must be a text of 1 to ${MAX_NAME} characters`);
  return name;
}
