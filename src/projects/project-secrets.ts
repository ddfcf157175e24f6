/** Encrypts and decrypts the secrets of projects in the platform database. */
import { Inject, Injectable } from '@nestjs/common';
import { createSecretKey, hkdfSync } from 'node:crypto';
import { SECRETS_CONFIG, SecretsConfig } from '../config/app-config';
import { type SecretKind, Secrets } from '../install/secrets.service';
import { ProjectSecret } from './project';
import { ProjectSecretEntity } from './project.entity';

/** The secrets were encrypted with another key. The message is for the administrator. */
export class MasterKeyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MasterKeyError';
  }
}

@Injectable()
export class ProjectSecrets {
  constructor(
    private readonly secrets: Secrets,
    @Inject(SECRETS_CONFIG) private readonly config: SecretsConfig,
  ) {}

  seal(kind: SecretKind, projectId: string, plaintext: string): Buffer {
    return this.secrets.seal(kind, projectId, plaintext);
  }

  open(kind: SecretKind, projectId: string, sealed: Buffer): string {
    return this.secrets.open(kind, projectId, sealed);
  }

  /** Decrypts the signing keys of a project. */
  openSigning(row: ProjectSecretEntity): ProjectSecret {
    const secret = this.open('jwt-secret', row.projectId, row.secret);
    return {
      kid: row.kid,
      secret,
      key: createSecretKey(secret, 'utf8'),
      storageSecret: this.open('storage-secret', row.projectId, row.storageSecret),
      createdAt: row.createdAt.getTime(),
      expiresAt: row.expiresAt?.getTime() ?? null,
    };
  }

  /** Null for an empty list. */
  sealList<K>(kind: SecretKind, projectId: string, keys: readonly K[]): Buffer | null {
    return keys.length > 0 ? this.seal(kind, projectId, JSON.stringify(keys)) : null;
  }

  openList<K>(kind: SecretKind, projectId: string, sealed: Buffer | null): K[] {
    return sealed ? (JSON.parse(this.open(kind, projectId, sealed)) as K[]) : [];
  }

  /**
   * The secret from which the keys of values in a project's database are derived. A backup contains it, so it says
   * nothing about MASTER_KEY or other projects.
   */
  dataSecretOf(projectId: string, sealed: Buffer | null): string {
    return sealed === null
      ? formerDataSecret(this.config.masterKey, projectId)
      : this.open('data-secret', projectId, sealed);
  }

  /** @throws MasterKeyError when the project's secret cannot be decrypted */
  assertOpens(kind: SecretKind, projectId: string, sealed: Buffer): void {
    try {
      this.open(kind, projectId, sealed);
    } catch (cause) {
      throw new MasterKeyError(
        'MASTER_KEY is not the one that the secrets of the projects are encrypted under: restore that key (without MASTER_KEY it is the file master-key in the data directory).',
        { cause },
      );
    }
  }
}

/** The data secret of a project that an earlier version created. */
export function formerDataSecret(masterKey: string, projectId: string): string {
  const purpose = `plinth project data v1:${projectId}`;
  return Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32)).toString('base64url');
}
