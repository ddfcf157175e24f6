/** Encrypts and decrypts secrets in the platform database under MASTER_KEY. */
import { Inject, Injectable } from '@nestjs/common';
import { SECRETS_CONFIG, SecretsConfig } from '../config/app-config';
import { SecretBox } from '../infra/crypto/secret-box';

export type SecretKind =
  | 'jwt-secret'
  | 'storage-secret'
  | 'owner-password'
  | 'login-password'
  | 'data-secret'
  | 'signing-keys'
  | 's3-keys'
  | 'api-keys'
  | 'server-url';

@Injectable()
export class Secrets {
  readonly box: SecretBox;

  constructor(@Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig) {
    this.box = new SecretBox(masterKey, otherMasterKey);
  }

  /** @param owner the project or server that the secret belongs to */
  seal(kind: SecretKind, owner: string, plaintext: string): Buffer {
    return this.box.seal(plaintext, `${kind}:${owner}`);
  }

  /** @throws Error if it was sealed for another kind or owner, or under another MASTER_KEY */
  open(kind: SecretKind, owner: string, sealed: Buffer): string {
    return this.box.open(sealed, `${kind}:${owner}`);
  }
}
