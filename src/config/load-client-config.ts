/** The part of the configuration that the command line needs. Reads the admin key and writes nothing. */
import { join, resolve } from 'node:path';
import { codeOf, messageOf } from '../common/errors/error-facts';
import type { StorageConfig } from './app-config';
import { ADMIN_KEY_FILE, publicUrl, validateEnvironment } from './load-config';
import { readSecret } from './secret-file';
import { storageConfig } from './storage-config';

export interface ClientConfig {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  readonly platformAdminKey: string;
}

/** Where an install keeps its data, for commands that work without a server. */
export interface LocalConfig {
  /** Absolute. */
  readonly dataDir: string;
  /** Absolute; null: none. */
  readonly walArchiveDir: string | null;
  readonly storage: StorageConfig;
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

/**
 * Reads the environment like the server, except that a missing key is not generated.
 * @throws ConfigError, AdminKeyMissingError
 */
export function loadClientConfig(environment: Readonly<Record<string, string | undefined>>): ClientConfig {
  const env = validateEnvironment(environment);
  return {
    port: env.PORT,
    host: env.HOST,
    publicUrl: publicUrl(env),
    platformAdminKey: env.PLATFORM_ADMIN_KEY ?? readAdminKey(join(resolve(env.DATA_DIR), ADMIN_KEY_FILE)),
  };
}

/** Reads the environment like the server, and creates nothing. @throws ConfigError */
export function loadLocalConfig(environment: Readonly<Record<string, string | undefined>>): LocalConfig {
  const env = validateEnvironment(environment);
  const dataDir = resolve(env.DATA_DIR);
  return {
    dataDir,
    walArchiveDir: env.WAL_ARCHIVE_DIR ? resolve(env.WAL_ARCHIVE_DIR) : null,
    storage: storageConfig(env, dataDir),
  };
}

/** BACKUP_PASSPHRASE; null: not set. @throws ConfigError */
export function backupPassphrase(environment: Readonly<Record<string, string | undefined>>): string | null {
  return validateEnvironment(environment).BACKUP_PASSPHRASE ?? null;
}

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
