/** The discovery documents (RFC 7643, 5 to 7), which list only what Plinth supports. */
import type { JsonObject } from '../common/text/json';
import { GROUP_SCHEMA } from './scim-groups';
import { toScimList, USER_SCHEMA } from './scim-people';

export const MAX_PAGE = 200;
const OFF = { supported: false } as const;
const CORE = 'urn:ietf:params:scim:schemas:core:2.0';

type Difference = Readonly<Record<string, string | boolean | readonly JsonObject[]>>;

/** An attribute, described by its differences from the defaults (RFC 7643, 2.2). */
const attribute = (name: string, description: string, different: Difference = {}): JsonObject => ({
  name,
  type: 'subAttributes' in different ? 'complex' : 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...(different as JsonObject),
});

const READ_ONLY = { mutability: 'readOnly' } as const;

const USER_ATTRIBUTES = [
  attribute('userName', 'An email address', { required: true, uniqueness: 'server' }),
  attribute('name', 'displayName, or else name, is the name', {
    subAttributes: [
      attribute('formatted', 'The name'),
      attribute('givenName', 'Joined with familyName where there is no other name', { returned: 'never' }),
      attribute('familyName', 'As givenName', { returned: 'never' }),
    ],
  }),
  attribute('displayName', 'The name'),
  attribute('emails', 'The userName', {
    ...READ_ONLY,
    multiValued: true,
    subAttributes: [
      attribute('value', 'The userName', READ_ONLY),
      attribute('type', 'work', READ_ONLY),
      attribute('primary', 'true', { ...READ_ONLY, type: 'boolean' }),
    ],
  }),
  attribute('active', 'Whether the user may sign in', { type: 'boolean' }),
  attribute('groups', 'Groups with the user as a member', {
    ...READ_ONLY,
    multiValued: true,
    subAttributes: [
      attribute('value', 'The id of the group', READ_ONLY),
      attribute('$ref', 'Its address', {
        ...READ_ONLY,
        type: 'reference',
        referenceTypes: ['Group'] as never,
      }),
      attribute('display', 'Its name', READ_ONLY),
      attribute('type', 'direct', READ_ONLY),
    ],
  }),
];

const GROUP_ATTRIBUTES = [
  attribute('displayName', 'The name, which policies and roles refer to', {
    required: true,
    uniqueness: 'server',
  }),
  attribute('members', 'Users', {
    multiValued: true,
    subAttributes: [
      attribute('value', 'The id of the user', { mutability: 'immutable' }),
      attribute('$ref', 'Its address', {
        ...READ_ONLY,
        type: 'reference',
        referenceTypes: ['User'] as never,
      }),
    ],
  }),
];

export const toProviderConfig = (base: string): JsonObject => ({
  schemas: [`${CORE}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { ...OFF, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_PAGE },
  changePassword: OFF,
  sort: OFF,
  etag: OFF,
  authenticationSchemes: [
    { type: 'oauthbearertoken', name: 'Bearer token', description: 'The token of SCIM' },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

export const toResourceTypes = (base: string): JsonObject[] =>
  [
    ['User', USER_SCHEMA],
    ['Group', GROUP_SCHEMA],
  ].map(([name = '', schema = '']) => ({
    schemas: [`${CORE}:ResourceType`],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }));

export const toSchemas = (base: string): JsonObject[] =>
  [
    { id: USER_SCHEMA, name: 'User', attributes: USER_ATTRIBUTES },
    { id: GROUP_SCHEMA, name: 'Group', attributes: GROUP_ATTRIBUTES },
  ].map((schema) => ({
    schemas: [`${CORE}:Schema`],
    ...schema,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
  }));

export const listOf = (resources: readonly JsonObject[]): JsonObject =>
  toScimList(resources, resources.length, 1);
