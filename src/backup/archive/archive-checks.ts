/**
 * The types of an archive's JSON members. The maker of an archive chose its passphrase, too, so an authentic header is still a
 * stranger's: its id becomes the name of a database and of a folder.
 */
import { isJsonObject } from '../../common/text/json';
import { inSlices } from '../../common/time/slices';
import { isSoundKey } from '../../projects/signing-keys';
import { isProjectId } from '../../storage/providers/object-store';
import { archiveInvalid } from '../backup.errors';
import { HEADER, MANIFEST, SECRETS } from './archive-format';

/** Returns the path of the first invalid value, such as `.project.id`; undefined: there is none. Yields after each part. */
type Check = (value: unknown) => Generator<void, string | undefined>;

const MAX_NAME = 1_000;
/** Passwords, keys, URLs and values of settings. */
const MAX_TEXT = 100_000;
/** Milliseconds: the end of the year 9999. */
const MAX_TIME = 253_402_300_799_999;

const when = (test: (value: unknown) => boolean): Check =>
  // oxlint-disable-next-line require-yield -- it has no parts
  function* (value) {
    return test(value) ? undefined : '';
  };
const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && !value.includes('\0');
const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= MAX_TIME;

const name = when((value) => isText(value, MAX_NAME));
const text = when((value) => isText(value, MAX_TEXT));
const secret = when((value) => isText(value, MAX_TEXT) && value !== '');
const flag = when((value) => typeof value === 'boolean');
const count = when((value) => Number.isSafeInteger(value) && Number(value) >= 0);
const time = when(isTime);
const date = when((value) => isText(value, MAX_NAME) && isTime(Date.parse(value)));
const json = when(isJsonObject);

const nullable = (check: Check): Check =>
  function* (value) {
    return value === null ? undefined : yield* check(value);
  };
const optional = (check: Check): Check =>
  function* (value) {
    return value === undefined ? undefined : yield* check(value);
  };

const list = (check: Check): Check =>
  function* (value) {
    if (!Array.isArray(value)) return '';
    for (const [index, one] of value.entries()) {
      const fault = yield* check(one);
      if (fault !== undefined) return `[${index}]${fault}`;
      yield;
    }
    return undefined;
  };

const object = (checks: Readonly<Record<string, Check>>): Check => {
  const entries = Object.entries(checks);
  return function* (value) {
    if (!isJsonObject(value)) return '';
    for (const [key, check] of entries) {
      const fault = yield* check(value[key]);
      if (fault !== undefined) return `.${key}${fault}`;
    }
    return undefined;
  };
};

const record = (check: Check): Check =>
  function* (value) {
    if (!isJsonObject(value)) return '';
    for (const one of Object.values(value)) {
      if ((yield* check(one)) !== undefined) return '';
      yield;
    }
    return undefined;
  };

const projectId = when((value) => typeof value === 'string' && isProjectId(value));

const PROJECT_HEADER = object({
  plinth: name,
  postgres: count,
  created_at: date,
  project: object({
    id: projectId,
    slug: name,
    name,
    plan: name,
    created_at: date,
    schema_version: when((value) => isText(value, MAX_NAME) && /^\d{1,6}_/.test(value)),
    owner_role: secret,
    login_role: secret,
  }),
  extensions: list(object({ name, schema: name, version: name, by_owner: flag })),
  tables: list(object({ member: name, schema: name, name, columns: list(name) })),
  sequences: list(object({ schema: name, name, last_value: name, is_called: flag })),
});

const PROJECT_SECRETS = object({
  settings: json,
  owner_password: secret,
  data_secret: secret,
  secrets: list(
    object({ kid: name, secret, storage_secret: secret, created_at: time, expires_at: nullable(time) }),
  ),
  signing_keys: optional(list(when(isSoundKey))),
  database_settings: optional(list(object({ role: nullable(name), in_database: flag, name, value: text }))),
  roles: optional(
    object({
      roles: list(
        object({
          ...{
            name: secret,
            login: flag,
            inherit: flag,
            createrole: flag,
            limit: when(Number.isSafeInteger),
          },
          ...{ until: nullable(name), comment: nullable(text), password: nullable(text) },
        }),
      ),
      memberships: list(object({ role: secret, member: secret, admin: flag, inherit: flag, set: flag })),
      grants: list(object({ role: name, privilege: name })),
      comment: nullable(text),
      named: list(name),
    }),
  ),
});

const INSTALL_HEADER = object({ plinth: name, created_at: date });

const INSTALL_SECRETS = object({
  schedules: list(
    object({
      ...{ project_id: nullable(projectId), cron: name, time_zone: name },
      ...{ keep: count, enabled: flag, rehearse_days: optional(nullable(count)) },
      physical: optional(flag),
    }),
  ),
  servers: optional(list(object({ name, url: text, capacity: count }))),
});

const MANIFEST_SHAPE = object({
  members: count,
  sums: list(name),
  rows: record(count),
  files: object({ count, bytes: count, missing: count }),
  failed: optional(list(object({ id: name, slug: name, reason: text }))),
});

/** Each rejects with AppError 400. */
export const assertProjectHeader = (header: unknown): Promise<void> =>
  assertSound(HEADER, PROJECT_HEADER, header);
export const assertProjectSecrets = (secrets: unknown): Promise<void> =>
  assertSound(SECRETS, PROJECT_SECRETS, secrets);
export const assertInstallHeader = (header: unknown): Promise<void> =>
  assertSound(HEADER, INSTALL_HEADER, header);
export const assertInstallSecrets = (secrets: unknown): Promise<void> =>
  assertSound(SECRETS, INSTALL_SECRETS, secrets);
export const assertManifest = (manifest: unknown): Promise<void> =>
  assertSound(MANIFEST, MANIFEST_SHAPE, manifest);

async function assertSound(member: string, check: Check, value: unknown): Promise<void> {
  const fault = await inSlices(check(value));
  if (fault !== undefined) throw archiveInvalid(`${member} has no valid ${fault.slice(1) || 'content'}`);
}
