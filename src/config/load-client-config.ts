/** The part of the configuration that the command line needs. Reads the admin key and writes nothing. */
import { join, resolve } from 'node:path';
import { codeOf, messageOf } from '../common/errors/error-facts';
import type { StorageConfig } from './app-config';
import { type AgeConfig, ageConfig, backupConfig } from './backup-config';
import { ADMIN_KEY_FILE, ConfigError, publicUrl, storageOf, validateEnvironment } from './load-config';
import { type Environment, savedLogins } from './saved-logins';
import { findRunningServer } from './running-server';
import { readSecret } from './secret-file';
import { TUNING } from './tuning';

/** The address of the server with the same configuration. */
export interface ServerAddress {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

export interface ClientConfig extends ServerAddress {
  readonly credential: Credential;
}

export interface Credential {
  /** `token`: a staff member's token; `key`: PLATFORM_ADMIN_KEY. */
  readonly kind: 'token' | 'key';
  readonly secret: string;
}

/** Where an install keeps its data, for commands that work without a server. */
export interface LocalConfig {
  /** Absolute. */
  readonly dataDir: string;
  /** Absolute; null: none. */
  readonly walArchiveDir: string | null;
  readonly storage: StorageConfig;
  /** Where scheduled backups are; null: BACKUP_URL does not say it. */
  readonly backups: StorageConfig | null;
}

/** No admin key was found. The message says how to provide one. */
class AdminKeyMissingError extends Error {
  constructor(reason: string) {
    super(
      `${reason} Run this in the folder of the server, or set DATA_DIR to its data directory, or set PLATFORM_ADMIN_KEY.`,
    );
    this.name = 'AdminKeyMissingError';
  }
}

/** If the environment does not set it, the address is that of the server that runs on DATA_DIR. @throws ConfigError */
export function serverAddress(environment: Environment): ServerAddress {
  const env = validateEnvironment(environment);
  const running = findRunningServer(resolve(env.DATA_DIR));
  const given = (name: string): boolean => Boolean(environment[name]?.trim());
  const port = running && !(given('PORT') && env.PORT !== 0) ? running.port : env.PORT;
  const host = running && !given('HOST') ? running.host : env.HOST;
  const url = running && !given('PUBLIC_URL') ? running.publicUrl : publicUrl({ ...env, PORT: port });
  return { port, host, publicUrl: url };
}

/**
 * Reads the environment like the server, except that a missing key is not generated. The credential is PLINTH_TOKEN, else that
 * of `plinth login`, else the admin key.
 * @throws ConfigError, AdminKeyMissingError
 */
export function loadClientConfig(environment: Environment): ClientConfig {
  const env = validateEnvironment(environment);
  const address = serverAddress(environment);
  const token = givenToken(environment) ?? savedLogins(environment).find(address.publicUrl)?.token;
  if (token !== undefined) return { ...address, credential: { kind: 'token', secret: token } };
  const secret = env.PLATFORM_ADMIN_KEY ?? readAdminKey(join(resolve(env.DATA_DIR), ADMIN_KEY_FILE));
  return { ...address, credential: { kind: 'key', secret } };
}

/** PLINTH_TOKEN, which only the command line reads. */
function givenToken(environment: Environment): string | undefined {
  const token = environment.PLINTH_TOKEN?.trim();
  if (!token) return undefined;
  if (/^plt_[\w-]{43}$/.test(token)) return token;
  throw new ConfigError(['PLINTH_TOKEN must be a personal access token, which begins with plt_']);
}

/** Reads the environment like the server, and creates nothing. @throws ConfigError */
export function loadLocalConfig(environment: Environment): LocalConfig {
  const env = validateEnvironment(environment);
  const dataDir = resolve(env.DATA_DIR);
  return {
    dataDir,
    walArchiveDir: env.WAL_ARCHIVE_DIR ? resolve(env.WAL_ARCHIVE_DIR) : null,
    storage: storageOf(env, dataDir, TUNING),
    backups: env.BACKUP_URL === undefined ? null : backupConfig(env, dataDir, TUNING).destination,
  };
}

/** BACKUP_PASSPHRASE; null: it is not set. @throws ConfigError */
export const backupPassphrase = (environment: Environment): string | null =>
  validateEnvironment(environment).BACKUP_PASSPHRASE ?? null;

/** The recipients for whom backups are encrypted, and the file with the keys that open them. @throws ConfigError */
export const backupAgeKeys = (environment: Environment): AgeConfig =>
  ageConfig(validateEnvironment(environment));

function readAdminKey(file: string): string {
  let key: string | null = null;
  try {
    key = readSecret(file);
  } catch (error) {
    // DATA_DIR is a file.
    if (codeOf(error) !== 'ENOTDIR')
      throw new AdminKeyMissingError(`The admin key cannot be read: ${messageOf(error)}.`);
  }
  if (!key) throw new AdminKeyMissingError(`There is no admin key in ${file}.`);
  return key;
}
