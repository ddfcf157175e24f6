/** Seals and opens what the platform database keeps encrypted about a project. */
import { Inject, Injectable } from '@nestjs/common';
import { SECRETS_CONFIG, SecretsConfig } from '../config/app-config';
import { SecretBox } from '../infra/crypto/secret-box';

export type SecretKind = 'jwt-secret' | 'storage-secret' | 'owner-password' | 'login-password' | 'server-url';

@Injectable()
export class ProjectSecrets {
  private readonly box: SecretBox;

  constructor(@Inject(SECRETS_CONFIG) config: SecretsConfig) {
    this.box = new SecretBox(config.masterKey);
  }

  seal(kind: SecretKind, projectId: string, plaintext: string): Buffer {
    return this.box.seal(plaintext, `${kind}:${projectId}`);
  }

  open(kind: SecretKind, projectId: string, sealed: Buffer): string {
    return this.box.open(sealed, `${kind}:${projectId}`);
  }
}
