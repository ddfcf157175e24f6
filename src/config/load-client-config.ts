/** The part of the configuration that the command line needs. Reads the admin key and writes nothing. */
import { join, resolve } from 'node:path';
import { codeOf, messageOf } from '../common/errors/error-facts';
import { ADMIN_KEY_FILE, publicUrl, validateEnvironment } from './load-config';
import { readPassphrase, readSecret } from './secret-file';

export interface ClientConfig {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  readonly platformAdminKey: string;
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

/**
 * BACKUP_PASSPHRASE, or the content of BACKUP_PASSPHRASE_FILE; null: neither is set.
 * @throws ConfigError, or the error of the file system
 */
export function backupPassphrase(environment: Readonly<Record<string, string | undefined>>): string | null {
  const env = validateEnvironment(environment);
  return readPassphrase(env.BACKUP_PASSPHRASE ?? null, env.BACKUP_PASSPHRASE_FILE ?? null);
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
